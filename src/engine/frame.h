// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "packet/packet.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/transport.h"

namespace tributary::engine {

// Where the headers of one frame lie, found once when it enters a switch. Code behind the parser
// never sees an unchecked header: what is not there, or not whole, is null.
struct Frame {
  wire::EthernetHeader* ethernet = nullptr;
  wire::Ipv4Header* ipv4 = nullptr;  // version, lengths checked; header checksum not
  wire::UdpHeader* udp = nullptr;    // set for unfragmented UDP whose length fits
  wire::MutableBytes payload;        // behind the innermost header that is set
};

namespace detail {

inline void parse_udp(Frame& frame) {
  wire::MutableCursor cursor(frame.payload);
  auto* udp = cursor.take<wire::UdpHeader>();
  if (udp == nullptr || udp->length.value() < sizeof(wire::UdpHeader) ||
      udp->length.value() > frame.payload.size()) {
    return;
  }
  frame.udp = udp;
  frame.payload = cursor.rest().first(udp->length.value() - sizeof(wire::UdpHeader));
}

inline void parse_ipv4(Frame& frame) {
  wire::MutableCursor cursor(frame.payload);
  auto* ip = cursor.take<wire::Ipv4Header>();
  if (ip == nullptr || ip->version() != 4 || ip->header_bytes() < sizeof(wire::Ipv4Header) ||
      ip->total_length.value() < ip->header_bytes() ||
      ip->total_length.value() > frame.payload.size()) {
    return;
  }
  frame.ipv4 = ip;
  const auto header_bytes = ip->header_bytes();
  frame.payload = frame.payload.subspan(header_bytes, ip->total_length.value() - header_bytes);
  if (ip->protocol == wire::ip_protocol::udp && !ip->is_fragment()) {
    parse_udp(frame);
  }
}

}  // namespace detail

// Parses `packet`. An IPv4 packet with impossible lengths has ethernet set and ipv4 null.
inline Frame parse_frame(Packet& packet) {
  Frame frame;
  wire::MutableCursor cursor(packet.bytes());
  frame.ethernet = cursor.take<wire::EthernetHeader>();
  frame.payload = cursor.rest();
  if (frame.ethernet != nullptr && frame.ethernet->type.value() == wire::ethertype::ipv4) {
    detail::parse_ipv4(frame);
  }
  return frame;
}

}  // namespace tributary::engine
