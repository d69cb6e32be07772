// SPDX-License-Identifier: BSD-3-Clause
#include "engine/frame.h"

namespace tributary::engine {
namespace {

void parse_udp(Frame& frame) {
  wire::MutableCursor cursor(frame.payload);
  auto* udp = cursor.take<wire::UdpHeader>();
  if (udp == nullptr || udp->length.value() < sizeof(wire::UdpHeader) ||
      udp->length.value() > frame.payload.size()) {
    return;
  }
  frame.udp = udp;
  frame.payload = cursor.rest().first(udp->length.value() - sizeof(wire::UdpHeader));
}

void parse_ipv4(Frame& frame) {
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

}  // namespace

Frame parse_frame(Packet& packet) {
  Frame frame;
  wire::MutableCursor cursor(packet.bytes());
  frame.ethernet = cursor.take<wire::EthernetHeader>();
  frame.payload = cursor.rest();
  if (frame.ethernet != nullptr && frame.ethernet->type.value() == wire::ethertype::ipv4) {
    parse_ipv4(frame);
  }
  return frame;
}

}  // namespace tributary::engine
