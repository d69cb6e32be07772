// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tributary::traffic {

// A Histogram counts durations in nanoseconds, to better than one percent: buckets are as wide as a
// 128th of the power of two that they lie in (as in HdrHistogram). Recording is a few instructions.
class Histogram {
 public:
  void record(std::uint64_t ns) {
    ns = std::min(ns, value_max);
    ++counts_[bucket_of(ns)];
    ++count_;
    sum_ += ns;
    min_ = std::min(min_, ns);
    max_ = std::max(max_, ns);
  }

  std::uint64_t count() const { return count_; }
  std::uint64_t min() const { return count_ == 0 ? 0 : min_; }
  std::uint64_t max() const { return max_; }
  double mean() const {
    return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
  }

  // Returns the smallest duration that `percent` of all do not exceed, rounded up to its bucket's
  // end.
  std::uint64_t percentile(double percent) const {
    const auto wanted = static_cast<double>(count_) * percent / 100;
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen > 0 && static_cast<double>(seen) >= wanted) {
        return std::min(last_of(i), max_);
      }
    }
    return 0;
  }

  void clear() { *this = Histogram(); }

 private:
  static constexpr unsigned precision_bits = 7;
  static constexpr unsigned value_bits = 40;  // 18 minutes
  static constexpr std::uint64_t value_max = (std::uint64_t{1} << value_bits) - 1;
  static constexpr std::size_t row = std::size_t{1} << precision_bits;

  static std::size_t bucket_of(std::uint64_t ns) {
    const auto width = static_cast<unsigned>(std::bit_width(ns));
    const unsigned shift = width > precision_bits + 1 ? width - precision_bits - 1 : 0;
    return shift * row + (ns >> shift);
  }
  static std::uint64_t last_of(std::size_t bucket) {
    const std::size_t shift = bucket < 2 * row ? 0 : bucket / row - 1;
    return ((bucket - shift * row + 1) << shift) - 1;
  }

  std::array<std::uint64_t, (value_bits - precision_bits + 1) * row> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t min_ = value_max;
  std::uint64_t max_ = 0;
};

}  // namespace tributary::traffic
