// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <initializer_list>
#include <optional>

#include "support/frames.h"
#include "wire/checksum.h"
#include "wire/icmp6.h"
#include "wire/ip_address.h"
#include "wire/ipv6.h"

// These build frames of IPv6.
namespace tributary::test {

using Ip6 = wire::IpAddress;

// Returns 2001:db8:NET::HOST.
constexpr Ip6 ip6(std::uint16_t net, std::uint16_t host) {
  return Ip6::of_halves(0x20010db800000000 | std::uint64_t{net} << 16, host);
}

struct Endpoints6 {
  wire::MacAddress source_mac;
  wire::MacAddress destination_mac;
  Ip6 source;
  Ip6 destination;
};

inline wire::Ipv6Header& ip6_of(Packet& packet) {
  return *reinterpret_cast<wire::Ipv6Header*>(packet.data() + sizeof(wire::EthernetHeader));
}
inline wire::MutableBytes payload6_of(Packet& packet) {
  return packet.bytes().subspan(sizeof(wire::EthernetHeader) + sizeof(wire::Ipv6Header),
                                ip6_of(packet).payload_length.value());
}
template <typename Header>
Header& l4_header6(Packet& packet) {
  return *reinterpret_cast<Header*>(payload6_of(packet).data());
}

inline PacketPtr make_ip6(PacketPool& pool, const Endpoints6& ends, std::uint8_t next_header,
                          std::size_t payload_bytes) {
  auto packet = make_frame(pool, ends.destination_mac, ends.source_mac, wire::ethertype::ipv6,
                           sizeof(wire::Ipv6Header) + payload_bytes);
  auto& ip = ip6_of(*packet);
  ip = {};
  ip.payload_length = static_cast<std::uint16_t>(payload_bytes);
  ip.next_header = next_header;
  ip.source = ends.source.octets();
  ip.destination = ends.destination.octets();
  return packet;
}

inline PacketPtr make_udp6(PacketPool& pool, const Endpoints6& ends, std::uint16_t source_port,
                           std::uint16_t destination_port, std::size_t payload_bytes = 32) {
  auto packet =
      make_ip6(pool, ends, wire::ip_protocol::udp, sizeof(wire::UdpHeader) + payload_bytes);
  write_udp(ip6_of(*packet), payload6_of(*packet), source_port, destination_port);
  return packet;
}

// Fills in the checksum of an ICMPv6 message that follows the header directly.
inline PacketPtr with_icmp6_checksum(PacketPtr packet) {
  auto& icmp = l4_header6<wire::Icmp6Header>(*packet);
  icmp.checksum = std::uint16_t{0};
  icmp.checksum = wire::transport_checksum(ip6_of(*packet), payload6_of(*packet));
  return packet;
}

inline PacketPtr make_echo6(PacketPool& pool, const Endpoints6& ends,
                            std::size_t payload_bytes = 56) {
  auto packet =
      make_ip6(pool, ends, wire::ipv6_next::icmp, sizeof(wire::Icmp6Header) + payload_bytes);
  auto& icmp = l4_header6<wire::Icmp6Header>(*packet);
  icmp.type = wire::Icmp6Header::echo_request;
  icmp.rest = std::uint32_t{0x12340001};
  return with_icmp6_checksum(std::move(packet));
}

// Puts an extension header of eight bytes in front of what the packet carries; its type is the
// last one's, so the first that is put in is the last one.
inline PacketPtr extended(PacketPool& pool, Packet& packet, std::uint8_t type) {
  const auto before = payload6_of(packet);
  const auto& ip = ip6_of(packet);
  auto longer = make_ip6(pool,
                         {ethernet_of(packet).source, ethernet_of(packet).destination,
                          Ip6(ip.source), Ip6(ip.destination)},
                         type, before.size() + 8);
  auto& extension = l4_header6<wire::Ipv6Extension>(*longer);
  extension.next_header = ip.next_header;
  std::copy(before.begin(), before.end(), payload6_of(*longer).begin() + 8);
  return longer;
}

// Makes a neighbour solicitation from `ends.source` for `target`, or an advertisement of it.
inline PacketPtr make_neighbour(PacketPool& pool, std::uint8_t type, const Endpoints6& ends,
                                const Ip6& target, std::uint32_t flags = 0) {
  struct [[gnu::packed]] Message {
    wire::NeighbourMessage message;
    wire::LinkAddressOption option;
  };
  auto packet = make_ip6(pool, ends, wire::ipv6_next::icmp, sizeof(Message));
  ip6_of(*packet).hop_limit = 255;
  auto& all = l4_header6<Message>(*packet);
  all = {};
  all.message.icmp.type = type;
  all.message.icmp.rest = flags;
  all.message.target = target.octets();
  const bool asks = type == wire::Icmp6Header::neighbour_solicitation;
  all.option.type = asks ? wire::LinkAddressOption::of_source : wire::LinkAddressOption::of_target;
  all.option.mac = ends.source_mac;
  return with_icmp6_checksum(std::move(packet));
}

inline PacketPtr make_solicitation(PacketPool& pool, const wire::MacAddress& source_mac,
                                   const Ip6& source, const Ip6& target) {
  const auto group = wire::solicited_nodes(target);
  return make_neighbour(pool, wire::Icmp6Header::neighbour_solicitation,
                        {source_mac, wire::group_mac_of(group), source, group}, target);
}

inline PacketPtr make_advertisement(PacketPool& pool, const Endpoints6& ends,
                                    std::uint32_t flags = wire::NeighbourMessage::is_solicited |
                                                          wire::NeighbourMessage::overrides) {
  return make_neighbour(pool, wire::Icmp6Header::neighbour_advertisement, ends, ends.source, flags);
}

// Makes a host ask for routers; without an address (Ip6()) it does not tell its link-layer address.
inline PacketPtr make_router_solicitation(PacketPool& pool, const wire::MacAddress& source_mac,
                                          const Ip6& source) {
  constexpr auto all_routers = Ip6::of_halves(0xff02000000000000, 2);
  const auto option_bytes = source.is_unspecified() ? 0 : sizeof(wire::LinkAddressOption);
  auto packet = make_ip6(pool, {source_mac, wire::group_mac_of(all_routers), source, all_routers},
                         wire::ipv6_next::icmp, sizeof(wire::Icmp6Header) + option_bytes);
  ip6_of(*packet).hop_limit = 255;
  auto& icmp = l4_header6<wire::Icmp6Header>(*packet);
  icmp = {};
  icmp.type = wire::Icmp6Header::router_solicitation;
  if (option_bytes > 0) {
    auto& option = *reinterpret_cast<wire::LinkAddressOption*>(&icmp + 1);
    option = {};
    option.type = wire::LinkAddressOption::of_source;
    option.mac = source_mac;
  }
  return with_icmp6_checksum(std::move(packet));
}

inline bool has_right_icmp6_checksum(Packet& packet) {
  return wire::transport_checksum(ip6_of(packet), payload6_of(packet)) == 0;
}

}  // namespace tributary::test
