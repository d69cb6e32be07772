// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/unfinished.h"

#include <optional>

#include "wire/checksum.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
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

template <typename Header>
bool is_unfinished(const Header& ip, std::uint8_t protocol, wire::Bytes l4) {
  const auto stored = stored_checksum(protocol, l4);
  return stored && *stored == wire::pseudo_header_sum(ip, static_cast<std::uint16_t>(l4.size())) &&
         wire::transport_checksum(ip, l4) != 0;
}

bool is_unfinished4(wire::Bytes bytes) {
  wire::Cursor cursor(bytes);
  const auto* ip = cursor.take<wire::Ipv4Header>();
  if (ip == nullptr || ip->version() != 4 || ip->is_fragment() ||
      ip->header_bytes() < sizeof(wire::Ipv4Header) ||
      ip->total_length.value() < ip->header_bytes() || ip->total_length.value() > bytes.size()) {
    return false;
  }
  const auto l4_bytes = ip->total_length.value() - ip->header_bytes();
  return is_unfinished(*ip, ip->protocol, bytes.subspan(ip->header_bytes(), l4_bytes));
}

// Behind extension headers it is not sought.
bool is_unfinished6(wire::Bytes bytes) {
  wire::Cursor cursor(bytes);
  const auto* ip = cursor.take<wire::Ipv6Header>();
  if (ip == nullptr || ip->version() != 6 || ip->payload_length.value() > cursor.rest().size()) {
    return false;
  }
  return is_unfinished(*ip, ip->next_header, cursor.rest().first(ip->payload_length.value()));
}

}  // namespace

bool has_unfinished_checksum(const Packet& frame) {
  wire::Cursor cursor(frame.bytes());
  const auto type = wire::take_link_headers(cursor);
  return (type == wire::ethertype::ipv4 && is_unfinished4(cursor.rest())) ||
         (type == wire::ethertype::ipv6 && is_unfinished6(cursor.rest()));
}

}  // namespace tributary::forwarding
