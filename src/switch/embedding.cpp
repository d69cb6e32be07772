// SPDX-License-Identifier: BSD-3-Clause
#include "switch/embedding.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "protocols/engines.h"
#include "wire/checksum.h"
#include "wire/cursor.h"
#include "wire/ethernet.h"
#include "wire/ipv6.h"
#include "wire/multicast.h"
#include "wire/transport.h"
#include "wire/vlan.h"

namespace tributary::switching {
namespace {

using wire::EmbeddingPrefix;
using wire::IpAddress;

struct [[gnu::packed]] Headers6 {
  wire::EthernetHeader ethernet;
  wire::Ipv6Header ip;
  wire::UdpHeader udp;
};
struct [[gnu::packed]] Headers4 {
  wire::EthernetHeader ethernet;
  wire::Ipv4Header ip;
};
// The MAC address follows from the group, unless a frame is for one station or for all.
bool is_by_group(const Headers4& headers) {
  return headers.ip.destination.is_multicast() && headers.ethernet.destination.is_group();
}
constexpr auto shorter_by = sizeof(wire::Ipv6Header) - sizeof(wire::Ipv4Header);
static_assert(shorter_by <= PacketPool::default_headroom);

// The traffic class lies across the first two bytes.
std::uint8_t traffic_class_of(const wire::Ipv6Header& ip) {
  const auto& bytes = ip.version_class_flow;
  return static_cast<std::uint8_t>(bytes[0] << 4 | bytes[1] >> 4);
}
void set_traffic_class(wire::Ipv6Header& ip, std::uint8_t traffic_class) {
  ip.version_class_flow = {static_cast<std::uint8_t>(0x60 | traffic_class >> 4),
                           static_cast<std::uint8_t>(traffic_class << 4), 0, 0};
}

// Says whether the lengths are those of a UDP datagram that fits an IPv4 packet. Nobody claims
// another one there, and it would stay one of IPv4.
bool is_whole_udp(const Headers6& headers, std::size_t frame_bytes) {
  const std::size_t bytes = headers.ip.payload_length.value();
  const std::size_t udp_bytes = headers.udp.length.value();
  return headers.ip.version() == 6 && headers.ip.next_header == wire::ip_protocol::udp &&
         udp_bytes >= sizeof headers.udp && udp_bytes <= bytes &&
         bytes <= 0xffff - sizeof(wire::Ipv4Header) &&
         bytes <= frame_bytes - offsetof(Headers6, udp);
}

}  // namespace

Embedding::Embedding(const SwitchConfig& config) : prefix_(config.embedding_prefix) {
  if (!on()) {
    return;
  }
  own_vlan_ = has_vlans(config) ? config.bridge_vlan : std::uint16_t{0};
  for (const auto& port : config.ports) {
    ports_.push_back({!port.is_routed(), port.address6.has_value(), port.mac});
  }
  const auto kinds = protocols::engines();
  for (std::size_t row = 0; row < kinds.size(); ++row) {
    const auto& protocol = kinds[row]->protocol;
    if (!config.protocols.of(row).has_value() || protocol.over_ipv6) {
      continue;
    }
    protocols_.push_back(&protocol);
    for (std::uint32_t port = protocol.udp_ports.first; port <= protocol.udp_ports.last; ++port) {
      is_udp_port_.set(port);
    }
  }
}

bool Embedding::is_for_switch(const Packet& packet, const wire::MacAddress& destination,
                              bool to_group) const {
  if (packet.ingress >= ports_.size()) {
    return false;
  }
  const auto& port = ports_[packet.ingress];
  return port.is_bridged ? wire::vid_of(packet.vlan) == own_vlan_
                         : port.speaks_ipv6 &&
                               (destination == port.mac || (to_group && destination.is_group()));
}

// What no engine claims would go on with a header of IPv4.
bool Embedding::is_claimed(const engine::Frame& frame) const {
  const bool to_group = frame.ipv4->destination.is_multicast();
  return std::any_of(protocols_.begin(), protocols_.end(), [&](const engine::Protocol* protocol) {
    return protocol->to_groups == to_group && protocol->claims(frame);
  });
}

void Embedding::enter(Packet& packet) const {
  auto* arrived = wire::MutableCursor(packet.bytes()).take<Headers6>();
  if (arrived == nullptr || arrived->ethernet.type.value() != wire::ethertype::ipv6 ||
      !is_udp_port_[arrived->udp.destination_port.value()] ||
      !is_whole_udp(*arrived, packet.length)) {
    return;
  }
  const IpAddress source(arrived->ip.source);
  const IpAddress destination(arrived->ip.destination);
  if (!prefix_->embeds(source) || !prefix_->embeds(destination) ||
      !is_for_switch(packet, arrived->ethernet.destination, destination.is_multicast())) {
    return;
  }
  Headers4 headers;
  headers.ethernet = arrived->ethernet;
  headers.ethernet.type = wire::ethertype::ipv4;
  headers.ip.tos = traffic_class_of(arrived->ip);
  headers.ip.total_length =
      static_cast<std::uint16_t>(sizeof headers.ip + arrived->ip.payload_length.value());
  headers.ip.fragment = wire::Ipv4Header::dont_fragment;
  headers.ip.ttl = arrived->ip.hop_limit;
  headers.ip.protocol = wire::ip_protocol::udp;
  headers.ip.source = EmbeddingPrefix::embedded_in(source);
  headers.ip.destination = EmbeddingPrefix::embedded_in(destination);
  if (is_by_group(headers)) {
    headers.ethernet.destination = wire::multicast_mac(headers.ip.destination);
  }
  wire::finish_ipv4(headers.ip);
  const auto payload =
      packet.bytes().subspan(sizeof *arrived, arrived->udp.length.value() - sizeof arrived->udp);
  if (!is_claimed({&headers.ethernet, &headers.ip, &arrived->udp, payload})) {
    return;
  }
  packet.narrow_to(shorter_by, packet.length - shorter_by);
  std::memcpy(packet.data(), &headers, sizeof headers);
  packet.noted = 0;
  packet.over_ipv6 = true;
}

void Embedding::leave(Packet& packet) const {
  assert(on() && packet.over_ipv6 && packet.offset >= shorter_by);
  Headers4 headers;
  std::memcpy(&headers, packet.data(), sizeof headers);
  headers.ethernet.type = wire::ethertype::ipv6;
  wire::Ipv6Header ip;
  set_traffic_class(ip, headers.ip.tos);
  ip.payload_length =
      static_cast<std::uint16_t>(headers.ip.total_length.value() - sizeof headers.ip);
  ip.next_header = wire::ip_protocol::udp;
  ip.hop_limit = headers.ip.ttl;
  ip.source = prefix_->embed(headers.ip.source).octets();
  const auto destination = prefix_->towards(headers.ip.destination).embed(headers.ip.destination);
  ip.destination = destination.octets();
  if (is_by_group(headers)) {
    headers.ethernet.destination = wire::group_mac_of(destination);
  }
  packet.offset = static_cast<std::uint16_t>(packet.offset - shorter_by);
  packet.length += static_cast<std::uint32_t>(shorter_by);
  std::memcpy(packet.data(), &headers.ethernet, sizeof headers.ethernet);
  std::memcpy(packet.data() + sizeof headers.ethernet, &ip, sizeof ip);
  packet.noted = 0;
  packet.over_ipv6 = false;
}

}  // namespace tributary::switching
