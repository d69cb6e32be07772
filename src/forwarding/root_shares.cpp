// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/root_shares.h"

#include <algorithm>

namespace tributary::forwarding {
namespace {

// The first says how many results it takes to forget (the 1/g of RFC 8257), the second after how
// many a share changes.
constexpr unsigned memory_bits = 5;
constexpr std::uint32_t results_of_a_round = 16;
// Queues that fill and empty within milliseconds make less of a difference; by what they tell,
// switches would go different ways.
constexpr std::uint32_t difference_min = RootShares::all / 2;
constexpr std::uint32_t step = RootShares::all / 16;

}  // namespace

void RootShares::weigh(const std::vector<std::uint64_t>& rates_bps) {
  const auto fastest = std::ranges::max(rates_bps);
  for (std::size_t hop = 0; hop < roots_.size(); ++hop) {
    const auto rate = rates_bps[hop] == 0 ? fastest : rates_bps[hop];
    const auto part = fastest == 0 ? 1 : static_cast<double>(rate) / static_cast<double>(fastest);
    auto& root = roots_[hop];
    root.most = std::max(static_cast<std::uint32_t>(part * all), least);
    root.share = std::min(root.share, root.most);
  }
  look_for_reduced();
}

void RootShares::note(std::size_t root, bool congested, const std::vector<bool>& up) {
  auto& noted = roots_[root];
  noted.heard_of = true;
  noted.congested -= noted.congested >> memory_bits;
  noted.congested += congested ? all >> memory_bits : 0;
  if (++noted.results == results_of_a_round) {
    noted.results = 0;
    judge(noted, up);
  }
}

void RootShares::judge(Root& root, const std::vector<bool>& up) {
  auto best = root.congested;
  for (std::size_t hop = 0; hop < roots_.size(); ++hop) {
    const bool is_known = up[hop] && roots_[hop].heard_of;
    best = is_known ? std::min(best, roots_[hop].congested) : best;
  }
  const auto more = root.congested - best;
  if (more > difference_min) {
    const auto given_up = static_cast<std::uint32_t>(std::uint64_t{root.share} * more / all);
    root.share = std::max(root.share - given_up, least);
  } else {
    root.share = std::min(root.share + step, root.most);
  }
  look_for_reduced();
}

void RootShares::look_for_reduced() {
  reduced_ = std::ranges::any_of(roots_, [](const Root& each) { return each.share < all; });
}

}  // namespace tributary::forwarding
