// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

namespace tributary::host {

// A sum takes a time for itself, and a time for each of its elements.
struct SumCost {
  double fixed_s = 0;
  double element_s = 0;
};

// Estimates the cost of sums by a line: its slope is the median of those between any two of them
// (Theil and Sen), so that a sum that was held up once does not count. Of each size, by powers of
// two, the last few are kept: where groups have become alike, the line still has two ends. But a
// size of which there are no more sums is forgotten after a while, as the network may have changed.
class SumTimes {
 public:
  // A time without elements is what a rank tells that keeps to no rules, and does not count.
  void add(std::size_t elements, double seconds) {
    if (elements == 0) {
      return;
    }
    auto& size = sizes_[static_cast<std::size_t>(std::bit_width(elements))];
    size.last.push_back({static_cast<double>(elements), seconds});
    size.age = 0;
    if (size.last.size() > kept) {
      size.last.pop_front();
    }
  }
  bool is_empty() const {
    return std::all_of(sizes_.begin(), sizes_.end(),
                       [](const Size& size) { return size.last.empty(); });
  }
  // Is called whenever groups have been formed.
  void grow_old() {
    for (auto& size : sizes_) {
      if (++size.age > age_max) {
        size.last.clear();
      }
    }
  }
  // Where all sums were equally long, half of their time is taken for that of the sum itself: other
  // groups than before then come of it, and tell more.
  SumCost cost() const {
    std::vector<Made> all;
    for (const auto& size : sizes_) {
      all.insert(all.end(), size.last.begin(), size.last.end());
    }
    std::vector<double> slopes;
    for (const auto& a : all) {
      for (const auto& b : all) {
        if (a.elements < b.elements) {
          slopes.push_back((b.seconds - a.seconds) / (b.elements - a.elements));
        }
      }
    }
    const auto slope =
        slopes.empty()
            ? median_of(all, [](const Made& sum) { return sum.seconds / sum.elements / 2; })
            : std::max(0.0, median(slopes));
    const auto rest =
        median_of(all, [slope](const Made& sum) { return sum.seconds - slope * sum.elements; });
    return {std::max(0.0, rest), slope};
  }

 private:
  static constexpr std::size_t kept = 8;
  static constexpr std::uint64_t age_max = 8;
  struct Made {
    double elements = 0;
    double seconds = 0;
  };
  struct Size {
    std::deque<Made> last;
    std::uint64_t age = 0;  // how often groups were formed since the last of them
  };

  static double median(std::vector<double>& values) {
    if (values.empty()) {
      return 0;
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }
  template <typename Figure>
  static double median_of(const std::vector<Made>& sums, Figure figure) {
    std::vector<double> values(sums.size());
    std::transform(sums.begin(), sums.end(), values.begin(), figure);
    return median(values);
  }

  // By how many bits the number of elements has.
  std::array<Size, std::numeric_limits<std::size_t>::digits + 1> sizes_;
};

}  // namespace tributary::host
