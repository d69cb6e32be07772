// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

namespace tributary {

// Time is a parameter: drivers read a clock once per burst and hand it in, tests invent it. The
// clock type only keeps these points apart from those of the system's clocks.
struct Clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Clock>;
  static constexpr bool is_steady = true;
};
using Duration = Clock::duration;
using Time = Clock::time_point;

inline constexpr Time never = Time::max();

constexpr double in_seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace tributary
