// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "packet/clock.h"
#include "rate.h"

namespace tributary::pktgen {

// Says when the next packet may leave. Time is kept as a line keeps it: every packet occupies its
// share of it.
class Pacer {
 public:
  // A generator that was kept from its CPU does not make up for more than this: what it would send
  // at once would be a burst that nobody asked for.
  static constexpr Duration catch_up_max = std::chrono::milliseconds(1);

  void start(const Rate& rate, Time now) {
    const double ns = rate.is_unlimited() ? 0 : 1e9 / rate.per_second;
    packet_ns_ = rate.unit == Rate::Unit::packets ? ns : 0;
    byte_ns_ = rate.unit == Rate::Unit::line_bits ? 8 * ns : 0;
    next_ns_ = in_ns(now);
    refresh(now);
  }

  // Once per round.
  void refresh(Time now) {
    now_ns_ = in_ns(now);
    next_ns_ = std::max(next_ns_, now_ns_ - static_cast<double>(catch_up_max.count()));
  }

  bool ready() const { return next_ns_ <= now_ns_; }
  void charge(std::uint32_t line_bytes) { next_ns_ += packet_ns_ + line_bytes * byte_ns_; }

  // When the next packet may leave.
  Time deadline() const { return Time(Duration(static_cast<Duration::rep>(next_ns_))); }

 private:
  static double in_ns(Time time) { return static_cast<double>(time.time_since_epoch().count()); }

  double packet_ns_ = 0;
  double byte_ns_ = 0;
  double next_ns_ = 0;
  double now_ns_ = 0;
};

}  // namespace tributary::pktgen
