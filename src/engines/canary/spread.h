// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "packet/clock.h"

namespace tributary::canary {

// How far apart the contributions of a block arrive, first to last, smoothed over blocks as
// RFC 6298 smooths round-trip times: a mean, and how far blocks are from it.
class Spread {
 public:
  void add(Duration sample) {
    if (mean_ == unknown) {
      mean_ = sample;
      deviation_ = sample / 2;
      return;
    }
    const auto error = sample - mean_;
    deviation_ += (std::max(error, -error) - deviation_) / 4;
    mean_ += error / 8;
  }

  bool known() const { return mean_ != unknown; }
  // Nearly all blocks are complete after this time.
  Duration bound() const { return mean_ + 4 * deviation_; }

 private:
  static constexpr Duration unknown{-1};
  Duration mean_ = unknown;
  Duration deviation_{};
};

}  // namespace tributary::canary
