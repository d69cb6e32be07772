// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>

#include "host/rtt_estimator.h"

namespace tributary::host::roce {

struct Tuning {
  RtoBounds rto{.rto_min = std::chrono::milliseconds(10)};
  // A connection is given up when more timers than that have run out one after the other.
  unsigned retries_max = 64;
  // A timer may be shorter by one part in so many.
  static constexpr int spread = 4;
  // Returns the shortest timer of those that have backed off.
  Duration rto_spread_min() const { return rto.rto_max - rto.rto_max / spread; }
  // One of so many packets asks for an acknowledgement.
  std::uint32_t acknowledge_every = 16;
  // The least time between two congestion notifications by one connection.
  Duration notification_interval = std::chrono::microseconds(50);
};

}  // namespace tributary::host::roce
