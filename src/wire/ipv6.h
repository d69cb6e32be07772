// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "wire/endian.h"
#include "wire/ethernet.h"
#include "wire/ip_address.h"

namespace tributary::wire {

// RFC 8200, without extension headers.
struct [[gnu::packed]] Ipv6Header {
  std::array<std::uint8_t, 4> version_class_flow = {0x60, 0, 0, 0};
  be16 payload_length;
  std::uint8_t next_header = 0;
  std::uint8_t hop_limit = 64;
  std::array<std::uint8_t, 16> source{};
  std::array<std::uint8_t, 16> destination{};

  constexpr std::uint8_t version() const {
    return static_cast<std::uint8_t>(version_class_flow[0] >> 4);
  }
  constexpr std::uint32_t flow_label() const {
    return (version_class_flow[1] & 0xfu) << 16 | std::uint32_t{version_class_flow[2]} << 8 |
           version_class_flow[3];
  }
};
static_assert(sizeof(Ipv6Header) == 40 && alignof(Ipv6Header) == 1);

// Every link takes at least this (RFC 8200, section 5), and no error that is sent is longer.
inline constexpr std::uint16_t ipv6_mtu_min = 1280;

// These may follow a header, beside those of ip_protocol (RFC 8200, section 4).
namespace ipv6_next {
inline constexpr std::uint8_t hop_by_hop = 0;
inline constexpr std::uint8_t routing = 43;
inline constexpr std::uint8_t fragment = 44;
inline constexpr std::uint8_t icmp = 58;
inline constexpr std::uint8_t nothing = 59;
inline constexpr std::uint8_t destination_options = 60;
}  // namespace ipv6_next

// Options for all hops, options for the destination, and source routes begin with this.
struct [[gnu::packed]] Ipv6Extension {
  std::uint8_t next_header = 0;
  std::uint8_t length = 0;  // in units of 8 bytes, beyond the first
  std::uint8_t type = 0;    // of a source route
  std::uint8_t segments_left = 0;

  constexpr std::size_t bytes() const { return (std::size_t{length} + 1) * 8; }
};
static_assert(sizeof(Ipv6Extension) == 4 && alignof(Ipv6Extension) == 1);

inline constexpr IpAddress all_nodes = IpAddress::of_halves(0xff02000000000000, 1);

// Returns the group in which whoever may have `address` is asked for it (RFC 4291, 2.7.1).
constexpr IpAddress solicited_nodes(const IpAddress& address) {
  return IpAddress::of_halves(0xff02000000000000, 0x1ff000000 | (address.low() & 0xffffff));
}

// Returns the address that an interface with this MAC address has on its link (RFC 4291, appendix
// A).
constexpr IpAddress link_local_of(const MacAddress& mac) {
  const auto value = mac.value();
  return IpAddress::of_halves(
      0xfe80000000000000,
      ((value >> 24 << 40) | 0xfffe000000 | (value & 0xffffff)) ^ 0x0200000000000000);
}

// Returns where frames to a group go (RFC 2464, section 7).
constexpr MacAddress group_mac_of(const IpAddress& group) {
  const auto low = group.low();
  return {{0x33, 0x33, static_cast<std::uint8_t>(low >> 24), static_cast<std::uint8_t>(low >> 16),
           static_cast<std::uint8_t>(low >> 8), static_cast<std::uint8_t>(low)}};
}

}  // namespace tributary::wire
