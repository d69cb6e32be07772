// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>

#include "host/clock.h"
#include "host/rtt_estimator.h"

namespace tributary::host {

// Tells how long a worker waits before it asks, and a leader before it gives up.
class ResponseTimes : public RttEstimator {
 public:
  using RttEstimator::RttEstimator;

  // Returns how much later than one that was sent after it a result may come, before it is
  // suspected to be lost. As in RACK (RFC 8985, 6.2) the network shows how wide that is: wider when
  // something that was asked for came by itself, once per round trip; narrower after a number that
  // did not.
  Duration reordering_window() const {
    return std::max<Duration>(smoothed() * (1 << widening_) / window_divisor, window_min);
  }
  void asked_needlessly(Time now) {
    needed_ = 0;
    if (now >= widened_at_ + smoothed()) {
      widened_at_ = now;
      widening_ = std::min(widening_ + 1, widening_max);
    }
  }
  void asked_rightly() {
    if (++needed_ == needed_to_narrow) {
      needed_ = 0;
      widening_ = std::max(widening_ - 1, 0);
    }
  }
  // Returns how long nothing must have come before what is missing is taken for lost.
  Duration quiet() const {
    return std::clamp<Duration>(smoothed() / 4, std::chrono::microseconds(500),
                                std::chrono::milliseconds(50));
  }

 private:
  // Windows are an eighth of a round trip to a whole one, and a quarter to begin with.
  static constexpr int window_divisor = 8;
  static constexpr int widening_max = 3;
  static constexpr Duration window_min = std::chrono::microseconds(250);
  static constexpr unsigned needed_to_narrow = 16;

  int widening_ = 1;  // of the reordering window: doublings
  Time widened_at_{};
  unsigned needed_ = 0;  // requests since the last needless one
};

}  // namespace tributary::host
