// SPDX-License-Identifier: BSD-3-Clause
#include "switch/icmp.h"

#include <algorithm>
#include <cstring>

#include "wire/checksum.h"
#include "wire/transport.h"

namespace tributary::switching {
namespace {

// An error quotes as much of its packet as fits 576 bytes altogether (RFC 1812, 4.3.2.3).
constexpr std::size_t quoted_bytes_max = 576 - sizeof(wire::Ipv4Header) - sizeof(wire::IcmpHeader);

wire::IcmpHeader* icmp_of(const engine::Frame& frame) {
  wire::MutableCursor cursor(frame.payload);
  return cursor.take<wire::IcmpHeader>();
}

bool is_error(std::uint8_t type) {
  return type == wire::IcmpHeader::destination_unreachable ||
         type == wire::IcmpHeader::time_exceeded || type == 4 || type == 5 || type == 12;
}

}  // namespace

bool is_echo_request(const engine::Frame& frame) {
  const auto* icmp = icmp_of(frame);
  return icmp != nullptr && icmp->type == wire::IcmpHeader::echo_request && icmp->code == 0 &&
         wire::internet_checksum(frame.payload) == 0;
}

void turn_into_echo_reply(const engine::Frame& frame) {
  auto* icmp = icmp_of(frame);
  icmp->type = wire::IcmpHeader::echo_reply;
  icmp->checksum = wire::update_checksum(icmp->checksum.value(),
                                         std::uint16_t{wire::IcmpHeader::echo_request} << 8, 0);
  auto* ip = frame.ipv4;
  std::swap(ip->source, ip->destination);  // leaves the header's checksum as it is
  const auto before = static_cast<std::uint16_t>((ip->ttl << 8) | ip->protocol);
  ip->ttl = 64;
  const auto after = static_cast<std::uint16_t>((ip->ttl << 8) | ip->protocol);
  ip->checksum = wire::update_checksum(ip->checksum.value(), before, after);
}

bool may_answer_with_error(const engine::Frame& frame) {
  const auto& ip = *frame.ipv4;
  const bool later_fragment = (ip.fragment.value() & wire::Ipv4Header::offset_mask) != 0;
  if (later_fragment || frame.ethernet->destination.is_group() || ip.source.is_unspecified() ||
      ip.source.is_multicast() || ip.source.is_broadcast() || ip.destination.is_multicast() ||
      ip.destination.is_broadcast()) {
    return false;
  }
  if (ip.protocol != wire::ip_protocol::icmp) {
    return true;
  }
  const auto* icmp = icmp_of(frame);
  return icmp != nullptr && !is_error(icmp->type);
}

bool make_icmp_error(Packet& error, const engine::Frame& about, const IcmpError& kind,
                     const wire::Ipv4Address& source) {
  const auto quoted = std::min<std::size_t>(about.ipv4->total_length.value(), quoted_bytes_max);
  const auto ip_bytes = sizeof(wire::Ipv4Header) + sizeof(wire::IcmpHeader) + quoted;
  const auto frame_bytes = sizeof(wire::EthernetHeader) + ip_bytes;
  if (error.tailroom() < frame_bytes) {
    return false;
  }
  error.length = static_cast<std::uint32_t>(frame_bytes);
  wire::MutableCursor cursor(error.bytes());
  auto* ethernet = cursor.take<wire::EthernetHeader>();
  *ethernet = {};
  ethernet->type = wire::ethertype::ipv4;
  auto* ip = cursor.take<wire::Ipv4Header>();
  *ip = {};
  ip->total_length = static_cast<std::uint16_t>(ip_bytes);
  ip->protocol = wire::ip_protocol::icmp;
  ip->source = source;
  ip->destination = about.ipv4->source;
  wire::finish_ipv4(*ip);
  const auto message = cursor.rest();
  auto* icmp = cursor.take<wire::IcmpHeader>();
  *icmp = {};
  icmp->type = kind.type;
  icmp->code = kind.code;
  icmp->rest = kind.rest;
  std::memcpy(cursor.rest().data(), about.ipv4, quoted);
  icmp->checksum = wire::internet_checksum(message);
  return true;
}

bool IcmpLimiter::allow(Time now) {
  if (spent_until_ > now + interval * (burst - 1)) {
    return false;
  }
  spent_until_ = std::max(spent_until_, now) + interval;
  return true;
}

}  // namespace tributary::switching
