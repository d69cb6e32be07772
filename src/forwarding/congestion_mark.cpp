// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/congestion_mark.h"

#include "wire/checksum.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/vlan.h"

namespace tributary::forwarding {

bool mark_congestion(Packet& frame) {
  wire::MutableCursor cursor(frame.bytes());
  if (wire::take_link_headers(cursor) != wire::ethertype::ipv4) {
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
