// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/frame.h"
#include "wire/cursor.h"
#include "wire/ipv6.h"
#include "wire/transport.h"

namespace tributary::netreduce {

// This is an unfragmented UDP datagram over IPv4 or IPv6. It points into the packet, which somebody
// else owns.
struct Datagram {
  const std::byte* ip = nullptr;  // null: there is no such datagram
  std::size_t ip_bytes = 0;       // of the IP header, with IPv4's options; IPv6 has no extensions
  wire::UdpHeader* udp = nullptr;
  wire::MutableBytes payload;
};

namespace detail {

inline Datagram ipv6_datagram_of(const engine::Frame& frame) {
  wire::MutableCursor cursor(frame.payload);
  const auto* ip = cursor.take<wire::Ipv6Header>();
  if (ip == nullptr || ip->version() != 6 || ip->next_header != wire::ip_protocol::udp ||
      ip->payload_length.value() > cursor.rest().size()) {
    return {};
  }
  const auto datagram = cursor.rest().first(ip->payload_length.value());
  wire::MutableCursor udp_cursor(datagram);
  auto* udp = udp_cursor.take<wire::UdpHeader>();
  if (udp == nullptr || udp->length.value() < sizeof(wire::UdpHeader) ||
      udp->length.value() > datagram.size()) {
    return {};
  }
  return {reinterpret_cast<const std::byte*>(ip), sizeof *ip, udp,
          udp_cursor.rest().first(udp->length.value() - sizeof(wire::UdpHeader))};
}

}  // namespace detail

inline Datagram datagram_of(const engine::Frame& frame) {
  if (frame.udp != nullptr) {
    return {reinterpret_cast<const std::byte*>(frame.ipv4), frame.ipv4->header_bytes(), frame.udp,
            frame.payload};
  }
  if (frame.ethernet != nullptr && frame.ethernet->type.value() == wire::ethertype::ipv6) {
    return detail::ipv6_datagram_of(frame);
  }
  return {};
}

}  // namespace tributary::netreduce
