// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstdint>
#include <cstring>

#include "wire/endian.h"

namespace tributary::wire {

// An Ipv4Address is in network byte order; value() is for arithmetic, in host order.
struct [[gnu::packed]] Ipv4Address {
  be32 network;

  constexpr Ipv4Address() = default;
  constexpr explicit Ipv4Address(std::uint32_t host_order) : network(host_order) {}
  constexpr Ipv4Address(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d)
      : network((std::uint32_t{a} << 24) | (std::uint32_t{b} << 16) | (std::uint32_t{c} << 8) | d) {
  }

  constexpr std::uint32_t value() const { return network.value(); }
  constexpr bool is_unspecified() const { return value() == 0; }
  constexpr bool is_multicast() const { return (value() >> 28) == 0xe; }
  constexpr bool is_broadcast() const { return value() == 0xffffffff; }
  // Returns whether this is one host that packets may be routed from and to: not in 0/8, 127/8,
  // 224/4 or 240/4 (RFC 1812, 5.3.7).
  constexpr bool is_routable_unicast() const {
    const auto first = value() >> 24;
    return first != 0 && first != 127 && first < 224;
  }
  // Returns whether the address has a meaning on one link alone (169.254/16, RFC 3927).
  bool is_link_local() const { return std::memcmp(this, "\xa9\xfe", 2) == 0; }
  friend constexpr bool operator==(const Ipv4Address& a, const Ipv4Address& b) {
    return a.value() == b.value();
  }
  friend constexpr auto operator<=>(const Ipv4Address& a, const Ipv4Address& b) {
    return a.value() <=> b.value();
  }
};
static_assert(sizeof(Ipv4Address) == 4 && alignof(Ipv4Address) == 1);

namespace ip_protocol {
inline constexpr std::uint8_t icmp = 1;
inline constexpr std::uint8_t tcp = 6;
inline constexpr std::uint8_t udp = 17;
}  // namespace ip_protocol

// These are the two ECN bits of the traffic class (RFC 3168).
namespace ecn {
inline constexpr std::uint8_t mask = 0x3;
inline constexpr std::uint8_t not_ect = 0x0;
inline constexpr std::uint8_t ect1 = 0x1;
inline constexpr std::uint8_t ect0 = 0x2;
inline constexpr std::uint8_t ce = 0x3;
}  // namespace ecn

// RFC 791.
struct [[gnu::packed]] Ipv4Header {
  std::uint8_t version_ihl = 0x45;
  std::uint8_t tos = 0;
  be16 total_length;
  be16 identification;
  be16 fragment;  // flags (3 bits) and offset in units of 8 bytes (13 bits)
  std::uint8_t ttl = 64;
  std::uint8_t protocol = 0;
  be16 checksum;
  Ipv4Address source;
  Ipv4Address destination;

  static constexpr std::uint16_t dont_fragment = 0x4000;
  static constexpr std::uint16_t more_fragments = 0x2000;
  static constexpr std::uint16_t offset_mask = 0x1fff;

  constexpr std::uint8_t version() const { return static_cast<std::uint8_t>(version_ihl >> 4); }
  constexpr std::uint32_t header_bytes() const { return (version_ihl & 0xfu) * 4u; }
  constexpr bool is_fragment() const {
    return (fragment.value() & (more_fragments | offset_mask)) != 0;
  }
};
static_assert(sizeof(Ipv4Header) == 20 && alignof(Ipv4Header) == 1);

}  // namespace tributary::wire
