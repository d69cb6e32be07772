// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "host/loose/sum_times.h"

namespace tributary::host {

// Groups neighbouring layers, in the order in which their gradients come, so that the last sum ends
// soonest: a group is added up when the last of its gradients is there, and the group before is
// done. Of groupings that end within a hundredth of that, the one with the fewest groups is taken,
// at most 32 of them. `ready_s` increases. Returns the end of each group, as a place behind it.
inline std::vector<std::size_t> grouped(std::span<const double> ready_s,
                                        std::span<const std::size_t> elements,
                                        const SumCost& cost) {
  constexpr std::size_t groups_max = 32;
  constexpr double enough = 1.01;
  struct Best {
    double ends_s = std::numeric_limits<double>::infinity();
    std::size_t from = 0;  // where the last group begins
  };
  const auto layers = elements.size();
  // best[n][m] is the best way to put the first m layers into n groups.
  std::vector<std::vector<Best>> best(1, std::vector<Best>(layers + 1));
  best[0][0].ends_s = 0;
  auto soonest = std::numeric_limits<double>::infinity();
  while (best.size() <= std::min(groups_max, layers)) {
    const auto& fewer = best.back();
    std::vector<Best> more(layers + 1);
    for (std::size_t end = 1; end <= layers; ++end) {
      double together = 0;
      for (std::size_t from = end; from-- > 0;) {
        together += static_cast<double>(elements[from]);
        const auto took_s = cost.fixed_s + cost.element_s * together;
        if (ready_s[end - 1] + took_s >= more[end].ends_s) {
          break;  // more layers in the group are no better
        }
        const auto ends_s = std::max(ready_s[end - 1], fewer[from].ends_s) + took_s;
        if (ends_s < more[end].ends_s) {
          more[end] = {ends_s, from};
        }
      }
    }
    soonest = std::min(soonest, more[layers].ends_s);
    best.push_back(std::move(more));
  }
  std::size_t groups = 1;
  while (best[groups][layers].ends_s > enough * soonest) {
    ++groups;
  }
  std::vector<std::size_t> ends;
  for (auto end = layers; groups > 0; --groups) {
    ends.push_back(end);
    end = best[groups][end].from;
  }
  std::reverse(ends.begin(), ends.end());
  return ends;
}

// Returns the group of each layer, where layers are grouped in the order in which their gradients
// come.
inline std::vector<std::size_t> groups_of(std::span<const std::int64_t> ready_ns,
                                          std::span<const std::size_t> elements,
                                          const SumCost& cost) {
  std::vector<std::size_t> order(elements.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [ready_ns](std::size_t a, std::size_t b) { return ready_ns[a] < ready_ns[b]; });
  std::vector<double> ready_s;
  std::vector<std::size_t> in_order;
  for (const auto layer : order) {
    ready_s.push_back(static_cast<double>(ready_ns[layer]) * 1e-9);
    in_order.push_back(elements[layer]);
  }
  const auto ends = grouped(ready_s, in_order, cost);
  std::vector<std::size_t> groups(elements.size());
  for (std::size_t place = 0, group = 0; place < order.size(); ++place) {
    group += place == ends[group] ? 1 : 0;
    groups[order[place]] = group;
  }
  return groups;
}

// Layers whose gradients a rank offers together: the paper's colayers (section 4.3.2).
class Colayers {
 public:
  // At first each layer is a colayer by itself.
  explicit Colayers(std::size_t layers)
      : ready_ns_(layers, 0), group_(layers), has_(layers, false), count_(layers) {
    std::iota(group_.begin(), group_.end(), std::size_t{0});
    next_ = group_;
  }

  void begin(std::uint64_t iteration) {
    has_.assign(has_.size(), false);
    if (iteration >= next_from_) {
      group_ = next_;
      count_ = *std::max_element(group_.begin(), group_.end()) + 1;
    }
  }
  bool has(std::size_t layer) const { return has_[layer]; }
  bool is_complete() const { return std::find(has_.begin(), has_.end(), false) == has_.end(); }
  std::size_t count() const { return count_; }
  // Tells how long after begin() the gradient of each layer usually comes; 0 before the first.
  const std::vector<std::int64_t>& ready_ns() const { return ready_ns_; }

  // Notes that a gradient is there, so long after begin(), and returns the layers that can be
  // offered now.
  std::vector<std::size_t> ready(std::size_t layer, std::int64_t after_ns) {
    has_[layer] = true;
    ready_ns_[layer] += (after_ns - ready_ns_[layer]) / (ready_ns_[layer] == 0 ? 1 : fading);
    std::vector<std::size_t> together;
    for (std::size_t other = 0; other < group_.size(); ++other) {
      if (group_[other] == group_[layer]) {
        if (!has_[other]) {
          return {};
        }
        together.push_back(other);
      }
    }
    return together;
  }

  // Has the colayers be others from that iteration on: `groups` has the group of each layer, by
  // groups_of(). Tells whether they are others than the last ones.
  bool form(std::vector<std::size_t> groups, std::uint64_t from_iteration) {
    std::swap(next_, groups);
    next_from_ = from_iteration;
    return next_ != groups;
  }

 private:
  static constexpr std::int64_t fading = 5;  // a time that is new counts for one of so many

  std::vector<std::int64_t> ready_ns_;  // of each layer, from the beginning of an iteration
  std::vector<std::size_t> group_;
  std::vector<std::size_t> next_;
  std::uint64_t next_from_ = 0;
  std::vector<bool> has_;  // in this iteration
  std::size_t count_ = 0;
};

}  // namespace tributary::host
