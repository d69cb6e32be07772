// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace tributary::host {

// A sum takes a time for itself, and a time for each of its elements.
struct SumCost {
  double fixed_s = 0;
  double element_s = 0;
};

// Estimates the cost of the sums that were made last by a line: its slope is the median of those
// between any two of them (Theil and Sen), so that a sum that was held up once does not count.
class SumTimes {
 public:
  void add(std::size_t elements, double seconds) {
    sums_.push_back({static_cast<double>(elements), seconds});
    if (sums_.size() > kept) {
      sums_.pop_front();
    }
  }
  // Where all sums were equally long, all of the time is the elements'.
  SumCost cost() const {
    std::vector<double> slopes;
    std::vector<double> shares;
    for (const auto& a : sums_) {
      shares.push_back(a.seconds / a.elements);
      for (const auto& b : sums_) {
        if (a.elements < b.elements) {
          slopes.push_back((b.seconds - a.seconds) / (b.elements - a.elements));
        }
      }
    }
    if (slopes.empty()) {
      return {0, median(shares)};
    }
    const auto slope = std::max(0.0, median(slopes));
    std::vector<double> rests;
    for (const auto& sum : sums_) {
      rests.push_back(sum.seconds - slope * sum.elements);
    }
    return {std::max(0.0, median(rests)), slope};
  }

 private:
  static constexpr std::size_t kept = 64;
  struct Made {
    double elements = 0;
    double seconds = 0;
  };

  static double median(std::vector<double>& values) {
    if (values.empty()) {
      return 0;
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }

  std::deque<Made> sums_;
};

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

// Layers whose gradients a rank offers together: the paper's colayers (section 4.3.2), formed from
// the times that its gradients take to compute and the ranks' sums take to make.
class Colayers {
 public:
  // At first each layer is a colayer by itself.
  explicit Colayers(std::vector<std::size_t> elements)
      : elements_(std::move(elements)),
        ready_s_(elements_.size(), 0),
        group_(elements_.size()),
        has_(elements_.size(), false) {
    std::iota(group_.begin(), group_.end(), std::size_t{0});
    count_ = elements_.size();
  }

  void begin() { has_.assign(elements_.size(), false); }
  bool has(std::size_t layer) const { return has_[layer]; }
  bool is_complete() const { return std::find(has_.begin(), has_.end(), false) == has_.end(); }
  std::size_t count() const { return count_; }

  // Notes that a gradient is there, so long after begin(), and returns the layers that can be
  // offered now.
  std::vector<std::size_t> ready(std::size_t layer, double seconds) {
    has_[layer] = true;
    ready_s_[layer] += (ready_s_[layer] == 0 ? 1 : fading) * (seconds - ready_s_[layer]);
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

  // Forms the colayers anew, and tells whether they are others than before. Precondition: no
  // gradient is held back.
  bool form(const SumCost& cost) {
    std::vector<std::size_t> order(elements_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [this](std::size_t a, std::size_t b) { return ready_s_[a] < ready_s_[b]; });
    std::vector<double> ready_s;
    std::vector<std::size_t> elements;
    for (const auto layer : order) {
      ready_s.push_back(ready_s_[layer]);
      elements.push_back(elements_[layer]);
    }
    const auto before = group_;
    const auto ends = grouped(ready_s, elements, cost);
    for (std::size_t place = 0, group = 0; place < order.size(); ++place) {
      group += place == ends[group] ? 1 : 0;
      group_[order[place]] = group;
    }
    count_ = ends.size();
    return group_ != before;
  }

 private:
  static constexpr double fading = 0.2;  // the weight of a time that is new

  std::vector<std::size_t> elements_;  // of each layer
  std::vector<double> ready_s_;        // from the beginning of an iteration
  std::vector<std::size_t> group_;
  std::vector<bool> has_;  // in this iteration
  std::size_t count_ = 0;
};

}  // namespace tributary::host
