// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "packet/pool.h"

namespace tributary::flare {

// These are the aggregation buffers of one core (4.3): packets of its pool. What each tree may need
// was reckoned up when it was configured; this counts what they have.
class WorkingMemory {
 public:
  explicit WorkingMemory(PacketPool& pool)
      : pool_(pool), scratch_(std::make_unique_for_overwrite<std::byte[]>(scratch_bytes)) {}

  PacketPool& pool() { return pool_; }
  // Returns room for the elements of a packet, as long as nothing else is done.
  std::byte* scratch() { return scratch_.get(); }

  void take(std::size_t buffers) {
    in_use_ += buffers;
    high_water_ = std::max(high_water_, in_use_);
  }
  void give_back(std::size_t buffers) { in_use_ -= buffers; }

  std::uint64_t in_use() const { return in_use_; }
  std::uint64_t high_water() const { return high_water_; }

 private:
  // No datagram is longer than this.
  static constexpr std::size_t scratch_bytes = std::numeric_limits<std::uint16_t>::max();

  PacketPool& pool_;
  std::unique_ptr<std::byte[]> scratch_;
  std::uint64_t in_use_ = 0;
  std::uint64_t high_water_ = 0;
};

}  // namespace tributary::flare
