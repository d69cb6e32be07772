// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>

#include "host/rtt_estimator.h"

namespace tributary::host::roce {

struct Tuning {
  RtoBounds rto{.rto_min = std::chrono::milliseconds(10)};
  // Timers that run out one after the other before a connection is given up.
  unsigned retries_max = 64;
  // The part of a timer by which it may be shorter.
  static constexpr int spread = 4;
  // What the shortest timer of those that have backed off is.
  Duration rto_spread_min() const { return rto.rto_max - rto.rto_max / spread; }
  // Packets of which one asks for an acknowledgement.
  std::uint32_t acknowledge_every = 16;
  // Between two congestion notifications by one connection.
  Duration notification_interval = std::chrono::microseconds(50);
};

}  // namespace tributary::host::roce
