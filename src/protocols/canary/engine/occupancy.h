// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

namespace tributary::canary {

// Counts the memory that blocks hold while they gather: the packet that is the accumulator, and a
// wider one beside it where the element type needs it. (A block whose sum has gone on holds its
// slot only.)
class Occupancy {
 public:
  void add(std::uint64_t bytes) {
    accumulators_high_water_ = std::max(accumulators_high_water_, ++accumulators_);
    bytes_ += bytes;
    bytes_high_water_ = std::max(bytes_high_water_, bytes_);
  }
  void remove(std::uint64_t bytes) {
    --accumulators_;
    bytes_ -= bytes;
  }

  std::uint64_t accumulators() const { return accumulators_; }
  std::uint64_t accumulators_high_water() const { return accumulators_high_water_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t bytes_high_water() const { return bytes_high_water_; }

 private:
  std::uint64_t accumulators_ = 0;
  std::uint64_t accumulators_high_water_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t bytes_high_water_ = 0;
};

}  // namespace tributary::canary
