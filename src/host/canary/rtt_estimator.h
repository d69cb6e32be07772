// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>

#include "host/canary/tuning.h"
#include "host/clock.h"

namespace tributary::host {

// How long it takes from a contribution to its result, and how long to wait for one: RFC 6298.
class RttEstimator {
 public:
  explicit RttEstimator(const CanaryTuning& tuning) : tuning_(tuning) {}

  // From a contribution to the result that it caused, not to one that was asked for.
  void sample(Duration rtt) {
    if (!measured()) {
      smoothed_ = std::max(rtt, Duration(1));
      variation_ = rtt / 2;
      return;
    }
    const Duration error = rtt > smoothed_ ? rtt - smoothed_ : smoothed_ - rtt;
    variation_ += (error - variation_) / 4;
    smoothed_ = std::max(smoothed_ + (rtt - smoothed_) / 8, Duration(1));
  }

  bool measured() const { return smoothed_ != Duration::zero(); }
  Duration smoothed() const { return measured() ? smoothed_ : tuning_.rto_initial; }

  // After `expirations` timers in a row ran out: doubled each time.
  Duration timeout(unsigned expirations) const {
    const Duration plain =
        measured() ? smoothed_ + std::max(4 * variation_, granularity) : tuning_.rto_initial;
    const Duration bounded = std::clamp(plain, tuning_.rto_min, tuning_.rto_max);
    constexpr unsigned doublings_max = 10;
    return std::min(bounded * (1 << std::min(expirations, doublings_max)), tuning_.rto_max);
  }
  // How much later than one that was sent after it a result may come, before it is suspected to be
  // lost. As in RACK (RFC 8985, 6.2) the network shows how wide that is: wider when something that
  // was asked for came by itself, once per round trip; narrower after a number that did not.
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
  // How long nothing must have come before what is missing is taken for lost.
  Duration quiet() const {
    return std::clamp<Duration>(smoothed() / 4, std::chrono::microseconds(500),
                                std::chrono::milliseconds(50));
  }

 private:
  // How much later than asked for a driver may look at its timers.
  static constexpr Duration granularity = std::chrono::milliseconds(1);
  // Windows are an eighth of a round trip to a whole one, and a quarter to begin with.
  static constexpr int window_divisor = 8;
  static constexpr int widening_max = 3;
  static constexpr Duration window_min = std::chrono::microseconds(250);
  static constexpr unsigned needed_to_narrow = 16;

  CanaryTuning tuning_;
  Duration smoothed_{};
  Duration variation_{};
  int widening_ = 1;  // of the reordering window: doublings
  Time widened_at_{};
  unsigned needed_ = 0;  // requests since the last needless one
};

}  // namespace tributary::host
