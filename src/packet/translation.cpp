// SPDX-License-Identifier: BSD-3-Clause
#include "packet/translation.h"

#include <cassert>
#include <cstddef>
#include <cstring>

#include "packet/pool.h"
#include "wire/checksum.h"
#include "wire/cursor.h"
#include "wire/multicast.h"

namespace tributary {
namespace {

using wire::EmbeddingPrefix;
using wire::IpAddress;

static_assert(ipv6_longer_by <= PacketPool::default_headroom);

// The MAC address follows from the group, unless a frame is for one station or for all.
bool is_by_group(const Ipv4Headers& headers) {
  return headers.ip.destination.is_multicast() && headers.ethernet.destination.is_group();
}

// The traffic class lies across the first two bytes.
std::uint8_t traffic_class_of(const wire::Ipv6Header& ip) {
  const auto& bytes = ip.version_class_flow;
  return static_cast<std::uint8_t>(bytes[0] << 4 | bytes[1] >> 4);
}
void set_traffic_class(wire::Ipv6Header& ip, std::uint8_t traffic_class) {
  ip.version_class_flow = {static_cast<std::uint8_t>(0x60 | traffic_class >> 4),
                           static_cast<std::uint8_t>(traffic_class << 4), 0, 0};
}

// Says whether the lengths are those of a UDP datagram that fits an IPv4 packet.
bool is_whole_udp(const Ipv6Headers& headers, std::size_t frame_bytes) {
  const std::size_t bytes = headers.ip.payload_length.value();
  const std::size_t udp_bytes = headers.udp.length.value();
  return headers.ip.version() == 6 && headers.ip.next_header == wire::ip_protocol::udp &&
         udp_bytes >= sizeof headers.udp && udp_bytes <= bytes &&
         bytes <= 0xffff - sizeof(wire::Ipv4Header) &&
         bytes <= frame_bytes - offsetof(Ipv6Headers, udp);
}

}  // namespace

std::optional<Ipv4Headers> headers_over_ipv4(const Packet& frame, const EmbeddingPrefix& prefix) {
  const auto* found = wire::Cursor(frame.bytes()).take<Ipv6Headers>();
  if (found == nullptr || found->ethernet.type.value() != wire::ethertype::ipv6 ||
      !is_whole_udp(*found, frame.length)) {
    return std::nullopt;
  }
  const IpAddress source(found->ip.source);
  const IpAddress destination(found->ip.destination);
  if (!prefix.embeds(source) || !prefix.embeds(destination)) {
    return std::nullopt;
  }
  Ipv4Headers headers;
  headers.ethernet = found->ethernet;
  headers.ethernet.type = wire::ethertype::ipv4;
  headers.ip.tos = traffic_class_of(found->ip);
  headers.ip.total_length =
      static_cast<std::uint16_t>(sizeof headers.ip + found->ip.payload_length.value());
  headers.ip.fragment = wire::Ipv4Header::dont_fragment;
  headers.ip.ttl = found->ip.hop_limit;
  headers.ip.protocol = wire::ip_protocol::udp;
  headers.ip.source = EmbeddingPrefix::embedded_in(source);
  headers.ip.destination = EmbeddingPrefix::embedded_in(destination);
  if (is_by_group(headers)) {
    headers.ethernet.destination = wire::multicast_mac(headers.ip.destination);
  }
  wire::finish_ipv4(headers.ip);
  return headers;
}

void become_ipv4(Packet& frame, const Ipv4Headers& headers) {
  frame.narrow_to(ipv6_longer_by, frame.length - ipv6_longer_by);
  std::memcpy(frame.data(), &headers, sizeof headers);
  frame.noted = 0;
}

wire::Ipv6Header ipv6_header_of(const wire::Ipv4Header& ip, const EmbeddingPrefix& prefix) {
  wire::Ipv6Header made;
  set_traffic_class(made, ip.tos);
  made.payload_length = static_cast<std::uint16_t>(ip.total_length.value() - sizeof ip);
  made.next_header = wire::ip_protocol::udp;
  made.hop_limit = ip.ttl;
  made.source = prefix.embed(ip.source).octets();
  made.destination = prefix.towards(ip.destination).embed(ip.destination).octets();
  return made;
}

void become_ipv6(Packet& frame, const EmbeddingPrefix& prefix) {
  assert(frame.offset >= ipv6_longer_by);
  Ipv4Headers headers;
  std::memcpy(&headers, frame.data(), sizeof headers);
  const auto ip = ipv6_header_of(headers.ip, prefix);
  headers.ethernet.type = wire::ethertype::ipv6;
  if (is_by_group(headers)) {
    headers.ethernet.destination = wire::group_mac_of(IpAddress(ip.destination));
  }
  frame.offset = static_cast<std::uint16_t>(frame.offset - ipv6_longer_by);
  frame.length += ipv6_longer_by;
  std::memcpy(frame.data(), &headers.ethernet, sizeof headers.ethernet);
  std::memcpy(frame.data() + sizeof headers.ethernet, &ip, sizeof ip);
  frame.noted = 0;
}

}  // namespace tributary
