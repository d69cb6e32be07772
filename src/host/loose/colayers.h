// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace tributary::host {

// What a sum takes: so long for any, and so long for each element.
struct SumCost {
  double fixed_s = 0;
  double element_s = 0;
};

// That of the sums that were made, as the line of least squares; old ones fade.
class SumTimes {
 public:
  void add(std::size_t elements, double seconds) {
    const auto x = static_cast<double>(elements);
    for (auto* sum : {&weight_, &x_, &y_, &xx_, &xy_}) {
      *sum *= fading;
    }
    weight_ += 1;
    x_ += x;
    y_ += seconds;
    xx_ += x * x;
    xy_ += x * seconds;
  }
  // Where all were equally long, all of it is the elements'.
  SumCost cost() const {
    const auto spread = weight_ * xx_ - x_ * x_;
    if (x_ <= 0) {
      return {};
    }
    if (spread <= 1e-9 * weight_ * xx_) {
      return {0, y_ / x_};
    }
    const auto slope = std::max(0.0, (weight_ * xy_ - x_ * y_) / spread);
    return {std::max(0.0, (y_ - slope * x_) / weight_), slope};
  }

 private:
  static constexpr double fading = 0.99;
  double weight_ = 0;
  double x_ = 0;
  double y_ = 0;
  double xx_ = 0;
  double xy_ = 0;
};

// Neighbours among layers, in the order in which their gradients come, so that the last sum ends
// soonest: a group is added up when the last of its gradients is there, and the group before is
// done. `ready_s` increases. The end of each group, as a place behind it; of equal ones the fewest.
inline std::vector<std::size_t> grouped(std::span<const double> ready_s,
                                        std::span<const std::size_t> elements,
                                        const SumCost& cost) {
  struct Best {
    double ends_s = std::numeric_limits<double>::infinity();
    std::size_t groups = 0;
    std::size_t from = 0;
  };
  std::vector<Best> best(elements.size() + 1);
  best[0] = {0, 0, 0};
  for (std::size_t end = 1; end <= elements.size(); ++end) {
    double together = 0;
    for (std::size_t from = end; from-- > 0;) {
      together += static_cast<double>(elements[from]);
      const auto ends_s =
          std::max(ready_s[end - 1], best[from].ends_s) + cost.fixed_s + cost.element_s * together;
      const auto groups = best[from].groups + 1;
      if (ends_s < best[end].ends_s || (ends_s == best[end].ends_s && groups < best[end].groups)) {
        best[end] = {ends_s, groups, from};
      }
    }
  }
  std::vector<std::size_t> ends;
  for (auto end = elements.size(); end > 0; end = best[end].from) {
    ends.push_back(end);
  }
  std::reverse(ends.begin(), ends.end());
  return ends;
}

// Layers whose gradients a rank offers together: the paper's colayers (section 4.3.2), formed from
// the times that its gradients take to compute and the ranks' sums take to make.
class Colayers {
 public:
  // At first each layer is one.
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

  // A gradient is there, so long after begin(): the layers that can be offered now.
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

  // Precondition: no gradient is held back. Whether they are others than before.
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
  static constexpr double fading = 0.2;  // of a time that is new

  std::vector<std::size_t> elements_;  // of each layer
  std::vector<double> ready_s_;        // from the beginning of an iteration
  std::vector<std::size_t> group_;
  std::vector<bool> has_;  // in this iteration
  std::size_t count_ = 0;
};

}  // namespace tributary::host
