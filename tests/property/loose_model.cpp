// SPDX-License-Identifier: BSD-3-Clause
#include "property/loose_model.h"

#include <algorithm>

namespace tributary::test {

std::size_t LooseModel::in_sums(std::uint32_t rank, std::uint64_t iteration) const {
  std::size_t found = 0;
  for (std::size_t layer = 0; layer < layers_; ++layer) {
    found += added_.count({rank, iteration, layer});
  }
  return found;
}

std::uint64_t LooseModel::at(std::uint32_t rank) const {
  const auto jumped = jumped_.find(rank);
  const auto floor = jumped == jumped_.end() ? 0 : jumped->second;
  if (!begun_[rank] || *begun_[rank] < floor) {
    return floor;
  }
  return *begun_[rank] + (in_sums(rank, *begun_[rank]) == layers_ ? 1 : 0);
}

std::uint64_t LooseModel::reached(std::uint32_t rank) const {
  const auto here = at(rank);
  return here + (in_sums(rank, here) >= rule_.proportion ? 1 : 0);
}

void LooseModel::speaks(std::uint32_t rank, bool is_over) {
  auto& spoken = spoken_[rank];
  spoken = {begun_[rank], at(rank), {}, closed_[rank]};
  for (const auto& gradient : waiting_) {
    if (gradient.rank == rank && !is_over) {
      spoken.offers.insert(gradient);
    }
  }
}

std::map<std::size_t, std::set<std::uint32_t>> LooseModel::add_up() {
  std::size_t open = 0;
  for (const auto& spoken : spoken_) {
    latest_ = std::max(latest_, spoken.begun.value_or(0));
    open += spoken.closed ? 0 : 1;
  }
  std::map<std::size_t, std::set<std::uint32_t>> sums;
  for (std::uint32_t rank = 0; rank < spoken_.size(); ++rank) {
    const auto& spoken = spoken_[rank];
    if (rule_.drops && !spoken.closed && latest_ > spoken.at + rule_.staleness &&
        in_sums(rank, spoken.at) < rule_.proportion) {
      stale_.insert(rank);
    }
    for (const auto& gradient : spoken.offers) {
      if (!is_stale(rank)) {
        sums[gradient.layer].insert(rank);
      }
    }
  }
  if (rule_.together) {
    std::erase_if(sums, [open](const auto& sum) { return sum.second.size() < open; });
  }
  for (const auto& [layer, ranks] : sums) {
    for (const auto rank : ranks) {
      const Gradient gradient{rank, *spoken_[rank].begun, layer};
      added_.insert(gradient);
      waiting_.erase(gradient);
    }
  }
  for (const auto rank : stale_) {
    std::erase_if(waiting_, [rank](const Gradient& gradient) { return gradient.rank == rank; });
  }
  return sums;
}

void LooseModel::pulled(std::uint32_t rank) {
  if (stale_.erase(rank) != 0) {
    jumped_[rank] = latest_;
  }
}

}  // namespace tributary::test
