// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "packet/pool.h"
#include "wire/checksum.h"
#include "wire/cursor.h"
#include "wire/element.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/multicast.h"
#include "wire/sealed.h"
#include "wire/transport.h"

// The packets of protocols that go to multicast groups have this in common. A Spec is a structure
// of the protocol's own, of which these members are needed: group, source, source_mac, tos, ttl,
// udp_port and ingress.
namespace tributary::test {

inline constexpr std::size_t headers_before_protocol =
    sizeof(wire::EthernetHeader) + sizeof(wire::Ipv4Header) + sizeof(wire::UdpHeader);

template <typename Header>
void append(Packet& packet, const Header& header) {
  std::memcpy(packet.data() + packet.length, &header, sizeof header);
  packet.length += static_cast<std::uint32_t>(sizeof header);
}

template <typename Spec>
wire::Ipv4Header group_ip(const Spec& spec, std::size_t udp_bytes) {
  wire::Ipv4Header ip;
  ip.tos = spec.tos;
  ip.total_length = static_cast<std::uint16_t>(sizeof ip + udp_bytes);
  ip.fragment = wire::Ipv4Header::dont_fragment;
  ip.ttl = spec.ttl;
  ip.protocol = wire::ip_protocol::udp;
  ip.source = spec.source;
  ip.destination = spec.group;
  wire::finish_ipv4(ip);
  return ip;
}

// Makes a complete frame with that header, which is sealed already, or null if the pool is empty.
template <typename Spec, typename Header>
PacketPtr make_group_frame(PacketPool& pool, const Spec& spec, std::uint16_t source_port,
                           const Header& header, std::span<const std::byte> payload) {
  auto packet = pool.allocate();
  if (packet == nullptr) {
    return packet;
  }
  const auto udp_bytes = sizeof(wire::UdpHeader) + sizeof header + payload.size();
  append(*packet, wire::EthernetHeader{wire::multicast_mac(spec.group), spec.source_mac,
                                       wire::be16(wire::ethertype::ipv4)});
  append(*packet, group_ip(spec, udp_bytes));
  wire::UdpHeader udp;
  udp.source_port = source_port;
  udp.destination_port = spec.udp_port;
  udp.length = static_cast<std::uint16_t>(udp_bytes);
  append(*packet, udp);
  append(*packet, header);
  std::copy(payload.begin(), payload.end(), packet->data() + packet->length);
  packet->length += static_cast<std::uint32_t>(payload.size());
  packet->ingress = spec.ingress;
  return packet;
}

// Returns where the protocol's header of a frame lies; null if the frame is shorter.
template <typename Header>
Header* header_behind_udp(Packet& packet) {
  wire::MutableCursor cursor(packet.bytes());
  return cursor.skip(headers_before_protocol) ? cursor.take<Header>() : nullptr;
}

// Seals the packet in a frame again after a test has tampered with it; nothing happens if its
// payload, as long as `payload_bytes` says, is not all there.
template <typename Header>
void reseal_behind_udp(Packet& packet,
                       std::size_t (*payload_bytes)(const Header&) = wire::elements_bytes) {
  auto* header = header_behind_udp<Header>(packet);
  if (header == nullptr ||
      static_cast<std::size_t>(header->element_type) >= wire::element_type_count) {
    return;
  }
  const auto bytes = payload_bytes(*header);
  const auto payload = packet.bytes().subspan(headers_before_protocol + sizeof *header);
  if (payload.size() >= bytes) {
    seal(*header, payload.first(bytes));  // this is the protocol's own
  }
}

}  // namespace tributary::test
