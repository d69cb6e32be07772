// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/unfinished.h"

#include <optional>

#include "wire/checksum.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/transport.h"
#include "wire/vlan.h"

namespace tributary::forwarding {
namespace {

// Returns the checksum field of the segment; no value if there is none to judge.
std::optional<std::uint16_t> stored_checksum(std::uint8_t protocol, wire::Bytes l4) {
  wire::Cursor cursor(l4);
  if (protocol == wire::ip_protocol::tcp) {
    if (const auto* tcp = cursor.take<wire::TcpHeader>()) {
      return tcp->checksum.value();
    }
  } else if (protocol == wire::ip_protocol::udp) {
    const auto* udp = cursor.take<wire::UdpHeader>();
    if (udp != nullptr && udp->checksum.value() != 0) {
      return udp->checksum.value();
    }
  }
  return std::nullopt;
}

}  // namespace

bool has_unfinished_checksum(const Packet& frame) {
  wire::Cursor cursor(frame.bytes());
  if (wire::take_link_headers(cursor) != wire::ethertype::ipv4) {
    return false;
  }
  const auto ip_bytes = cursor.rest();
  const auto* ip = cursor.take<wire::Ipv4Header>();
  if (ip == nullptr || ip->version() != 4 || ip->is_fragment() ||
      ip->header_bytes() < sizeof(wire::Ipv4Header) ||
      ip->total_length.value() < ip->header_bytes() || ip->total_length.value() > ip_bytes.size()) {
    return false;
  }
  const auto l4_bytes = static_cast<std::uint16_t>(ip->total_length.value() - ip->header_bytes());
  const auto l4 = ip_bytes.subspan(ip->header_bytes(), l4_bytes);
  const auto stored = stored_checksum(ip->protocol, l4);
  return stored && *stored == wire::pseudo_header_sum(*ip, l4_bytes) &&
         wire::transport_checksum(*ip, l4) != 0;
}

}  // namespace tributary::forwarding
