// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/flow_control.h"

namespace tributary::forwarding {

Duration pause_time(std::uint16_t quanta, std::uint64_t rate_bps) {
  constexpr std::uint64_t nanoseconds_per_second = 1'000'000'000;
  const auto bits = quanta * wire::pause_quantum_bits;
  return Duration(static_cast<Duration::rep>(bits * nanoseconds_per_second / rate_bps));
}

}  // namespace tributary::forwarding
