// SPDX-License-Identifier: BSD-3-Clause
#include "host/ignored_packets.h"

#include <numeric>

namespace tributary::host {
namespace {

struct Name {
  Verdict verdict;
  const char* figure;
};

constexpr Name names[] = {
    {Verdict::malformed, "ignored_malformed"}, {Verdict::foreign, "ignored_foreign"},
    {Verdict::stale, "ignored_stale"},         {Verdict::duplicate, "ignored_duplicate"},
    {Verdict::mismatch, "ignored_mismatch"},   {Verdict::early, "ignored_early"},
};

}  // namespace

std::uint64_t IgnoredPackets::total() const {
  return std::accumulate(counted_.begin(), counted_.end(), std::uint64_t{0});
}

void IgnoredPackets::add_to(Figures& figures) const {
  for (const auto& [verdict, figure] : names) {
    figures.add({figure, (*this)[verdict]});
  }
}

}  // namespace tributary::host
