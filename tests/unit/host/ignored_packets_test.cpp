// SPDX-License-Identifier: BSD-3-Clause
#include "host/ignored_packets.h"

#include <gtest/gtest.h>

namespace tributary::host {
namespace {

constexpr std::pair<Verdict, const char*> figures_of_verdicts[] = {
    {Verdict::malformed, "ignored_malformed"}, {Verdict::foreign, "ignored_foreign"},
    {Verdict::stale, "ignored_stale"},         {Verdict::duplicate, "ignored_duplicate"},
    {Verdict::mismatch, "ignored_mismatch"},   {Verdict::early, "ignored_early"},
};

TEST(IgnoredPackets, AreCountedByWhatWasFound) {
  IgnoredPackets ignored;
  std::uint64_t times = 0;
  for (const auto& [verdict, figure] : figures_of_verdicts) {
    ++times;
    for (std::uint64_t i = 0; i < times; ++i) {
      ignored.count(verdict);
    }
  }
  ignored.count(Verdict::taken);
  EXPECT_EQ(ignored.total(), 1u + 2 + 3 + 4 + 5 + 6) << "what was taken is not ignored";
  Figures figures;
  ignored.add_to(figures);
  times = 0;
  for (const auto& [verdict, figure] : figures_of_verdicts) {
    ++times;
    EXPECT_EQ(ignored[verdict], times) << figure;
    EXPECT_EQ(figures.value<std::uint64_t>(figure), times);
  }
}

}  // namespace
}  // namespace tributary::host
