// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/flow_control.h"

#include "forwarding/traffic_class.h"

namespace tributary::forwarding {

PriorityMap priorities_of(std::span<const TrafficClass> classes) {
  const auto places = class_by_marking(classes);
  PriorityMap priorities;
  for (std::uint8_t marking = 0; marking < markings; ++marking) {
    priorities[marking] = classes.empty()
                              ? priority_of_marking(marking)
                              : classes[places[marking]].pfc_priority.value_or(no_priority);
  }
  return priorities;
}

Duration pause_time(std::uint16_t quanta, std::uint64_t rate_bps) {
  constexpr std::uint64_t nanoseconds_per_second = 1'000'000'000;
  const auto bits = quanta * wire::pause_quantum_bits;
  return Duration(static_cast<Duration::rep>(bits * nanoseconds_per_second / rate_bps));
}

}  // namespace tributary::forwarding
