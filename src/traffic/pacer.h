// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "packet/clock.h"
#include "traffic/rate.h"

namespace tributary::traffic {

// A Pacer says when the next packet may leave. Time is kept as a line keeps it: every packet
// occupies its share of it.
class Pacer {
 public:
  // A generator that was kept from its CPU makes up for no more than the greater of `catch_up` and
  // the time of `catch_up_packets`, and never for more than `catch_up_max`: it would send at once
  // what nobody asked for.
  static constexpr Duration catch_up = std::chrono::milliseconds(1);
  static constexpr int catch_up_packets = 32;
  static constexpr Duration catch_up_max = std::chrono::milliseconds(20);

  void start(const Rate& rate, Time now) {
    const double ns = rate.is_unlimited() ? 0 : 1e9 / rate.per_second;
    packet_ns_ = rate.unit == Rate::Unit::packets ? ns : 0;
    byte_ns_ = rate.unit == Rate::Unit::line_bits ? 8 * ns : 0;
    origin_ = now;
    next_ns_ = 0;
    set_catch_up(packet_ns_);
    refresh(now);
  }

  // Is called once per round.
  void refresh(Time now) {
    now_ns_ = in_ns(now);
    next_ns_ = std::max(next_ns_, now_ns_ - catch_up_ns_);
  }

  bool ready() const { return next_ns_ <= now_ns_; }
  void charge(std::uint32_t line_bytes) {
    const double cost = packet_ns_ + line_bytes * byte_ns_;
    next_ns_ += cost;
    if (cost > longest_ns_) {
      set_catch_up(cost);
    }
  }

  // Returns when the next packet may leave.
  Time deadline() const { return origin_ + Duration(static_cast<Duration::rep>(next_ns_)); }

 private:
  // Clocks that have run for months leave a double no fractions of a nanosecond.
  double in_ns(Time time) const { return static_cast<double>((time - origin_).count()); }

  // Is told that a packet may take as long as `packet_ns`.
  void set_catch_up(double packet_ns) {
    longest_ns_ = packet_ns;
    catch_up_ns_ = std::clamp(packet_ns * catch_up_packets, static_cast<double>(catch_up.count()),
                              static_cast<double>(catch_up_max.count()));
  }

  Time origin_{};
  double packet_ns_ = 0;
  double byte_ns_ = 0;
  double next_ns_ = 0;
  double now_ns_ = 0;
  double longest_ns_ = 0;
  double catch_up_ns_ = 0;
};

}  // namespace tributary::traffic
