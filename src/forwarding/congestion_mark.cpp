// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/congestion_mark.h"

#include "wire/checksum.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/vlan.h"

namespace tributary::forwarding {
namespace {

// The second byte has the lower half of the traffic class, with ECN below the DSCP.
bool mark_ipv6(wire::MutableCursor& cursor) {
  constexpr unsigned shift = 4;
  auto* ip = cursor.take<wire::Ipv6Header>();
  if (ip == nullptr || ip->version() != 6 ||
      (ip->version_class_flow[1] >> shift & wire::ecn::mask) == wire::ecn::not_ect) {
    return false;
  }
  ip->version_class_flow[1] =
      static_cast<std::uint8_t>(ip->version_class_flow[1] | wire::ecn::ce << shift);
  return true;
}

}  // namespace

bool mark_congestion(Packet& frame) {
  wire::MutableCursor cursor(frame.bytes());
  const auto type = wire::take_link_headers(cursor);
  if (type == wire::ethertype::ipv6) {
    return mark_ipv6(cursor);
  }
  if (type != wire::ethertype::ipv4) {
    return false;
  }
  auto* ip = cursor.take<wire::Ipv4Header>();
  if (ip == nullptr || ip->version() != 4 || (ip->tos & wire::ecn::mask) == wire::ecn::not_ect) {
    return false;
  }
  const auto first_word = [ip] {
    return static_cast<std::uint16_t>((ip->version_ihl << 8) | ip->tos);
  };
  const auto before = first_word();
  ip->tos = static_cast<std::uint8_t>(ip->tos | wire::ecn::ce);
  ip->checksum = wire::update_checksum(ip->checksum.value(), before, first_word());
  return true;
}

}  // namespace tributary::forwarding
