// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "engine/frame.h"
#include "packet/pool.h"
#include "wire/arp.h"
#include "wire/checksum.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/transport.h"
#include "wire/vlan.h"

// These build ordinary frames for tests: valid unless a test damages them afterwards.
namespace tributary::test {

using Ip = wire::Ipv4Address;

constexpr wire::MacAddress mac(std::uint8_t last, std::uint8_t group = 0) {
  return {{0x02, 0, 0, 0, group, last}};
}

inline PacketPtr make_frame(PacketPool& pool, const wire::MacAddress& destination,
                            const wire::MacAddress& source, std::uint16_t type,
                            std::size_t payload_bytes) {
  auto packet = pool.allocate();
  packet->length = static_cast<std::uint32_t>(sizeof(wire::EthernetHeader) + payload_bytes);
  std::memset(packet->data(), 0, packet->length);
  auto* ethernet = reinterpret_cast<wire::EthernetHeader*>(packet->data());
  ethernet->destination = destination;
  ethernet->source = source;
  ethernet->type = type;
  return packet;
}

// Endpoints are the link-layer and network addresses of one packet.
struct Endpoints {
  wire::MacAddress source_mac;
  wire::MacAddress destination_mac;
  Ip source;
  Ip destination;
};

inline wire::Ipv4Header& ip_of(Packet& packet) {
  return *reinterpret_cast<wire::Ipv4Header*>(packet.data() + sizeof(wire::EthernetHeader));
}
inline wire::EthernetHeader& ethernet_of(Packet& packet) {
  return *reinterpret_cast<wire::EthernetHeader*>(packet.data());
}
inline wire::MutableBytes l4_of(Packet& packet) {
  return packet.bytes().subspan(sizeof(wire::EthernetHeader) + sizeof(wire::Ipv4Header));
}
template <typename Header>
Header& l4_header(Packet& packet) {
  return *reinterpret_cast<Header*>(l4_of(packet).data());
}

inline PacketPtr make_ip(PacketPool& pool, const Endpoints& ends, std::uint8_t protocol,
                         std::size_t l4_bytes) {
  auto packet = make_frame(pool, ends.destination_mac, ends.source_mac, wire::ethertype::ipv4,
                           sizeof(wire::Ipv4Header) + l4_bytes);
  auto& ip = ip_of(*packet);
  ip = {};
  ip.total_length = static_cast<std::uint16_t>(sizeof(wire::Ipv4Header) + l4_bytes);
  ip.protocol = protocol;
  ip.source = ends.source;
  ip.destination = ends.destination;
  wire::finish_ipv4(ip);
  return packet;
}

// Writes the UDP header in front of a datagram without one; `Header` is that of either version of
// IP.
template <typename Header>
void write_udp(const Header& ip, wire::MutableBytes datagram, std::uint16_t source_port,
               std::uint16_t destination_port) {
  auto& udp = *reinterpret_cast<wire::UdpHeader*>(datagram.data());
  udp.source_port = source_port;
  udp.destination_port = destination_port;
  udp.length = static_cast<std::uint16_t>(datagram.size());
  udp.checksum = wire::transport_checksum(ip, datagram);
}

inline PacketPtr make_udp(PacketPool& pool, const Endpoints& ends, std::uint16_t source_port,
                          std::uint16_t destination_port, std::size_t payload_bytes = 32) {
  auto packet =
      make_ip(pool, ends, wire::ip_protocol::udp, sizeof(wire::UdpHeader) + payload_bytes);
  write_udp(ip_of(*packet), l4_of(*packet), source_port, destination_port);
  return packet;
}

inline PacketPtr make_echo(PacketPool& pool, const Endpoints& ends,
                           std::size_t payload_bytes = 56) {
  auto packet =
      make_ip(pool, ends, wire::ip_protocol::icmp, sizeof(wire::IcmpHeader) + payload_bytes);
  auto& icmp = l4_header<wire::IcmpHeader>(*packet);
  icmp.type = wire::IcmpHeader::echo_request;
  icmp.rest = std::uint32_t{0x12340001};
  icmp.checksum = wire::internet_checksum(l4_of(*packet));
  return packet;
}

inline PacketPtr make_arp(PacketPool& pool, std::uint16_t operation, const Endpoints& ends) {
  auto packet = make_frame(pool, ends.destination_mac, ends.source_mac, wire::ethertype::arp,
                           sizeof(wire::ArpHeader));
  auto& arp = *reinterpret_cast<wire::ArpHeader*>(packet->data() + sizeof(wire::EthernetHeader));
  arp = {};
  arp.operation = operation;
  arp.sender_mac = ends.source_mac;
  arp.sender_address = ends.source;
  arp.target_address = ends.destination;
  if (operation == wire::ArpHeader::reply) {
    arp.target_mac = ends.destination_mac;
  }
  return packet;
}

// Returns the frame with a VLAN tag, which has this control field.
inline PacketPtr tagged(PacketPtr packet, unsigned control) {
  packet->offset = static_cast<std::uint16_t>(packet->offset - sizeof(wire::VlanTag));
  packet->length += static_cast<std::uint32_t>(sizeof(wire::VlanTag));
  std::memmove(packet->data(), packet->data() + sizeof(wire::VlanTag),
               2 * sizeof(wire::MacAddress));
  auto& header = *reinterpret_cast<wire::TaggedHeader*>(packet->data());
  header.ethernet.type = wire::ethertype::vlan;
  header.tag.control = static_cast<std::uint16_t>(control);
  return packet;
}
// Takes the tag off, and returns what its control field was; no value if there is none.
inline std::optional<unsigned> take_tag(Packet& packet) {
  if (ethernet_of(packet).type.value() != wire::ethertype::vlan) {
    return std::nullopt;
  }
  const unsigned control =
      reinterpret_cast<const wire::TaggedHeader*>(packet.data())->tag.control.value();
  std::memmove(packet.data() + sizeof(wire::VlanTag), packet.data(), 2 * sizeof(wire::MacAddress));
  packet.narrow_to(sizeof(wire::VlanTag), packet.length - sizeof(wire::VlanTag));
  return control;
}

inline const wire::ArpHeader& arp_of(const Packet& packet) {
  return *reinterpret_cast<const wire::ArpHeader*>(packet.data() + sizeof(wire::EthernetHeader));
}

}  // namespace tributary::test
