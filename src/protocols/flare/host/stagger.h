// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace tributary::host {

// Tells in which order one rank sends the blocks of a collective: staggered sending (5). It takes
// them group by group. Within a group each rank begins at a place of its own and goes round, so
// that the packets of a block come to its core one by one.
//
// A group is half a window: a block's result can come only when the last rank has gone round, and
// meanwhile the other half of the window keeps the ranks busy.
class Stagger {
 public:
  // Precondition: rank < ranks, window > 0.
  Stagger(std::uint32_t rank, std::uint32_t ranks, std::uint32_t window)
      : rank_(rank), ranks_(ranks), group_(std::max(window / 2, 1u)) {}

  void begin(std::uint32_t blocks) {
    blocks_ = blocks;
    enter(0);
  }

  // Returns the next block, if one below `limit` is left in the group; what is beyond the limit
  // where the rank has come to does not keep back what is below it.
  std::optional<std::uint32_t> next(std::uint32_t limit) {
    if (high_ == end_ && low_ == turn_) {
      enter(end_);
    }
    if (high_ < std::min(limit, end_)) {
      return high_++;
    }
    if (low_ < std::min(limit, turn_)) {
      return low_++;
    }
    return std::nullopt;
  }

  // Returns the first block of the group that has this one. Every rank has sent all before that
  // group when it begins with it.
  std::uint32_t group_start(std::uint32_t block) const { return block - block % group_; }

 private:
  void enter(std::uint32_t first) {
    const auto size = std::min(group_, blocks_ - first);
    end_ = first + size;
    turn_ = first + static_cast<std::uint32_t>(std::uint64_t{size} * rank_ / ranks_);
    high_ = turn_;
    low_ = first;
  }

  std::uint32_t rank_;
  std::uint32_t ranks_;
  std::uint32_t group_;
  std::uint32_t blocks_ = 0;
  // These are of the group: where this rank begins, and which blocks come next behind that and
  // before it.
  std::uint32_t turn_ = 0;
  std::uint32_t high_ = 0;
  std::uint32_t end_ = 0;
  std::uint32_t low_ = 0;
};

}  // namespace tributary::host
