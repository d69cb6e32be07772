// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

#include "host/clock.h"

namespace tributary::host {

// A time by which something that runs has to end, and which any thread may bring forward.
class Limit {
 public:
  Time at() const { return Time(Duration(at_.load(std::memory_order_relaxed))); }
  bool passed(Time now) const { return now >= at(); }
  void bring_forward(Time to) {
    const auto earlier = to.time_since_epoch().count();
    auto at = at_.load(std::memory_order_relaxed);
    while (earlier < at && !at_.compare_exchange_weak(at, earlier, std::memory_order_relaxed)) {
    }
  }
  // Removes the limit, for what comes next.
  void lift() { at_.store(never.time_since_epoch().count(), std::memory_order_relaxed); }

 private:
  std::atomic<Duration::rep> at_ = never.time_since_epoch().count();
};

}  // namespace tributary::host
