// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "packet/clock.h"

namespace tributary::canary {

// Measures how far apart the contributions of a block arrive, first to last, smoothed over blocks
// as RFC 6298 smooths round-trip times: by a mean, and by how far blocks are from it.
class Spread {
 public:
  // Tells how many blocks it takes to forget, as a power of two: `brief` is that of RFC 6298, which
  // has one sample per round trip where a job has a window of blocks.
  enum class Memory : int { brief = 2, windows = 5 };

  void add(Duration sample, Memory memory = Memory::brief) {
    const int bits = static_cast<int>(memory);
    if (mean_ == unknown) {
      mean_ = sample;
      deviation_ = sample / 2;
      return;
    }
    const auto error = sample - mean_;
    deviation_ += shifted(std::max(error, -error) - deviation_, bits);
    mean_ += shifted(error, bits + 1);
  }
  // Learns that a block would have had to wait that long: bound() is no less from now on.
  void stretch(Duration sample) {
    if (!known() || sample > bound()) {
      add(sample);
    }
  }

  bool known() const { return mean_ != unknown; }
  // Nearly all blocks are complete after this time.
  Duration bound() const { return mean_ + 4 * deviation_; }

 private:
  // Returns the duration divided by 2^bits, rounded down.
  static Duration shifted(Duration duration, int bits) {
    return Duration{duration.count() >> bits};
  }

  static constexpr Duration unknown{-1};
  Duration mean_ = unknown;
  Duration deviation_{};
};

}  // namespace tributary::canary
