// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tributary::host {

// Tells which blocks of a collective are open or done on this rank.
//
// A block is open from when this rank contributed (or passed it by, as its leader) until it is
// done. How many may be open is said each time; never more than the ranks agreed on, the window. A
// block that was lost does not hold up the others at once: blocks may be opened up to `reach`
// beyond the lowest one that is not done.
//
// A peer can only be done with blocks that this rank opened or leads, so its reach ends less than
// span() beyond base(): no honest packet concerns a later block.
class Progress {
 public:
  static constexpr std::uint32_t reach_windows = 4;

  explicit Progress(std::uint32_t window) : window_(window), done_(span()) {}

  // With `completion`, the last block opens when all others are done.
  void begin(std::uint32_t blocks, bool completion) {
    blocks_ = blocks;
    completion_ = completion;
    base_ = next_ = open_ = 0;
    std::fill(done_.begin(), done_.end(), false);
  }

  std::uint32_t window() const { return window_; }
  std::uint32_t reach() const { return reach_windows * window_; }
  std::uint32_t span() const { return 2 * reach() + 2; }

  std::uint32_t blocks() const { return blocks_; }
  std::uint32_t base() const { return base_; }  // the lowest block that is not done
  std::uint32_t next() const { return next_; }  // the lowest block that was never opened
  std::uint32_t open() const { return open_; }
  bool finished() const { return base_ == blocks_; }
  bool only_completion_left() const { return completion_ && base_ + 1 == blocks_; }
  bool done(std::uint32_t block) const {
    return block < base_ || (block < base_ + span() && done_[block % span()]);
  }

  // Returns whether a block may be opened, with `most` open at once: no more than the window.
  bool may_open(std::uint32_t most) const {
    const bool all_but_completion = completion_ && !only_completion_left() && !finished();
    const auto end = std::min(blocks_ - (all_but_completion ? 1 : 0), base_ + reach());
    return next_ < end && (open_ < most || done(next_));
  }
  // Precondition: may_open().
  std::uint32_t open_next() {
    open_ += done(next_) ? 0 : 1;
    return next_++;
  }
  // Precondition: base() <= block < base() + span(), and not done.
  void complete(std::uint32_t block) {
    open_ -= block < next_ ? 1 : 0;
    done_[block % span()] = true;
    while (base_ < blocks_ && done_[base_ % span()]) {
      done_[base_ % span()] = false;
      ++base_;
    }
  }

 private:
  std::uint32_t window_;
  std::uint32_t blocks_ = 0;
  bool completion_ = false;
  std::uint32_t base_ = 0;
  std::uint32_t next_ = 0;
  std::uint32_t open_ = 0;
  std::vector<bool> done_;
};

}  // namespace tributary::host
