// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

namespace tributary::host {

// Machines are handed points of this clock. Only drivers read it; tests invent the points.
using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;
using Duration = Clock::duration;

inline constexpr Time never = Time::max();

constexpr double in_seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace tributary::host
