// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/flow_control.h"

#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/vlan.h"

namespace tributary::forwarding {

Duration pause_time(std::uint16_t quanta, std::uint64_t rate_bps) {
  constexpr std::uint64_t nanoseconds_per_second = 1'000'000'000;
  const auto bits = quanta * wire::pause_quantum_bits;
  return Duration(static_cast<Duration::rep>(bits * nanoseconds_per_second / rate_bps));
}

std::size_t priority_of(const Packet& frame) {
  constexpr unsigned tos_below_class_selector = 5;
  wire::Cursor cursor(frame.bytes());
  const auto type = wire::take_link_headers(cursor);
  const auto* ip = cursor.take<wire::Ipv4Header>();
  const bool is_ip = ip != nullptr && type == wire::ethertype::ipv4;
  return is_ip ? ip->tos >> tos_below_class_selector : 0;
}

}  // namespace tributary::forwarding
