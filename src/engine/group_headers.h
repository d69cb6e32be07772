// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/engine.h"
#include "wire/checksum.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/multicast.h"
#include "wire/transport.h"

namespace tributary::engine {

// GroupHeaders stand before a protocol's own header in packets to the multicast group of a tree.
struct [[gnu::packed]] GroupHeaders {
  wire::EthernetHeader ethernet;
  wire::Ipv4Header ipv4;
  wire::UdpHeader udp;
};

// Returns the headers of packets that begin at this switch, but for their lengths, TOS and UDP
// source port.
inline GroupHeaders group_headers(wire::Ipv4Address group, const SwitchIdentity& self,
                                  std::uint16_t udp_port) {
  GroupHeaders headers;
  headers.ethernet.destination = wire::multicast_mac(group);
  headers.ethernet.source = self.mac;
  headers.ethernet.type = wire::ethertype::ipv4;
  headers.ipv4.fragment = wire::Ipv4Header::dont_fragment;
  headers.ipv4.protocol = wire::ip_protocol::udp;
  headers.ipv4.source = self.address;
  headers.ipv4.destination = group;
  headers.udp.destination_port = udp_port;
  return headers;
}

// Fills in what follows from `bytes`, which come behind the UDP header; the IPv4 header is then
// complete.
inline void finish_headers(GroupHeaders& headers, std::size_t bytes) {
  const auto udp_bytes = sizeof headers.udp + bytes;
  headers.udp.length = static_cast<std::uint16_t>(udp_bytes);
  headers.ipv4.total_length = static_cast<std::uint16_t>(sizeof headers.ipv4 + udp_bytes);
  wire::finish_ipv4(headers.ipv4);
}

}  // namespace tributary::engine
