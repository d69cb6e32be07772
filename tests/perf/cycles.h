// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <x86intrin.h>

namespace tributary::perf {

// The time stamp counter: reading it costs a tenth of reading a clock, and what is measured may be
// as short as one burst.
inline std::uint64_t read_cycles() {
  unsigned processor = 0;
  return __rdtscp(&processor);
}

// Its rate, by the steady clock.
inline double cycles_per_second() {
  using Steady = std::chrono::steady_clock;
  const auto begin = Steady::now();
  const auto first = read_cycles();
  while (Steady::now() - begin < std::chrono::milliseconds(50)) {
  }
  const auto cycles = read_cycles() - first;
  return static_cast<double>(cycles) / std::chrono::duration<double>(Steady::now() - begin).count();
}

}  // namespace tributary::perf
