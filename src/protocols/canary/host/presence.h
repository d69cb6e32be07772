// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tributary::host {

// Tells what this rank knows about how far the others are. A rank contributes to the blocks in
// order, so a contribution to one block, or the result of one (which has everybody's contribution
// in it), tells about all blocks before.
class Presence {
 public:
  explicit Presence(std::uint32_t ranks) : sent_below_(ranks) {}

  void begin() {
    std::fill(sent_below_.begin(), sent_below_.end(), 0u);
    all_below_ = 0;
  }
  // Notes that `rank` has contributed to all blocks before `end` that it does not lead.
  void has_sent(std::uint32_t rank, std::uint32_t end) {
    sent_below_[rank] = std::max(sent_below_[rank], end);
  }
  void finished(std::uint32_t block) { all_below_ = std::max(all_below_, block + 1); }

  bool knows_sent(std::uint32_t rank, std::uint32_t block) const {
    return block < all_below_ || block < sent_below_[rank];
  }
  // Returns whether any block is done, which means that all ranks have begun the collective.
  bool all_began() const { return all_below_ != 0; }

 private:
  std::vector<std::uint32_t> sent_below_;
  std::uint32_t all_below_ = 0;
};

}  // namespace tributary::host
