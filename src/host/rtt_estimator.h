// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>

#include "host/clock.h"

namespace tributary::host {

// The bounds of a timer, and its value until something was measured.
struct RtoBounds {
  Duration rto_min = std::chrono::milliseconds(5);
  Duration rto_max = std::chrono::milliseconds(500);
  Duration rto_initial = std::chrono::milliseconds(100);
  // The timer also covers what took longest of late, up to this bound: where packets are held up
  // now and then (by PAUSE), averages have forgotten it when it happens again.
  Duration slowest_max{};
};

// Estimates how long it takes from a contribution to its result, and how long to wait for one (RFC
// 6298).
class RttEstimator {
 public:
  explicit RttEstimator(const RtoBounds& bounds) : bounds_(bounds) {}

  // Takes the time from a contribution to the result that it caused, not to one that was asked for.
  void sample(Duration rtt) {
    slowest_ = std::max(rtt, slowest_ - slowest_ / slowest_lasts);
    if (!measured()) {
      smoothed_ = std::max(rtt, Duration(1));
      variation_ = rtt / 2;
      return;
    }
    const Duration error = rtt > smoothed_ ? rtt - smoothed_ : smoothed_ - rtt;
    variation_ += (error - variation_) / 4;
    smoothed_ = std::max(smoothed_ + (rtt - smoothed_) / 8, Duration(1));
  }

  // Something was lost: that others waited for it tells nothing about the network.
  void forget_slowest() { slowest_ = {}; }

  bool measured() const { return smoothed_ != Duration::zero(); }
  Duration smoothed() const { return measured() ? smoothed_ : bounds_.rto_initial; }

  // Returns the timeout after `expirations` timers in a row ran out: it doubles each time.
  Duration timeout(unsigned expirations) const {
    const Duration plain =
        measured() ? smoothed_ + std::max(4 * variation_, granularity) : bounds_.rto_initial;
    const Duration slowest = std::min(slowest_ + slowest_ / 4, bounds_.slowest_max);
    const Duration bounded = std::clamp(std::max(plain, slowest), bounds_.rto_min, bounds_.rto_max);
    constexpr unsigned doublings_max = 10;
    return std::min(bounded * (1 << std::min(expirations, doublings_max)), bounds_.rto_max);
  }

 private:
  // A driver may look at its timers so much later than asked for.
  static constexpr Duration granularity = std::chrono::milliseconds(1);
  static constexpr int slowest_lasts = 512;  // samples, until it has fallen to 1/e

  RtoBounds bounds_;
  Duration smoothed_{};
  Duration variation_{};
  Duration slowest_{};
};

}  // namespace tributary::host
