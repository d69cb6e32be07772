// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace tributary::flare {

// Tells which run of its job a tree is in. The ranks draw a number whenever they meet; packets of
// runs that are over may still be on the way, and may come first at a switch that has forgotten
// all.
class Runs {
 public:
  bool is_current(std::uint32_t run) const { return run == current_; }
  bool is_over(std::uint32_t run) const {
    const auto end = over_.begin() + std::min(count_, over_.size());
    return std::find(over_.begin(), end, run) != end;
  }

  // Lets the tree go on with that run. What was current and never had a sum here was nothing but a
  // few packets that came late; of one that had, more may come.
  void begin(std::uint32_t run) {
    if (run == before_) {
      before_.reset();
      has_sums_ = true;
    } else {
      before_ = has_sums_ ? current_ : before_;
      has_sums_ = false;
    }
    current_ = run;
  }
  // Returns whether it was current before this one, so that more of it may come.
  bool was_before(std::uint32_t run) const { return run == before_; }
  // Notes that all ranks are in the current run: the one before is over.
  void note_sum() {
    has_sums_ = true;
    if (before_) {
      over_[count_++ % over_.size()] = *before_;
      before_.reset();
    }
  }

 private:
  std::array<std::uint32_t, 8> over_{};
  std::size_t count_ = 0;  // that went into it
  std::optional<std::uint32_t> current_;
  std::optional<std::uint32_t> before_;
  bool has_sums_ = false;  // of the current run
};

}  // namespace tributary::flare
