// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <compare>
#include <cstdint>

#include "wire/endian.h"

namespace tributary::wire {

struct [[gnu::packed]] MacAddress {
  std::array<std::uint8_t, 6> octets{};

  constexpr bool is_group() const { return (octets[0] & 1) != 0; }
  constexpr bool is_zero() const { return *this == MacAddress{}; }
  // Returns the octets as one number, the first one highest.
  constexpr std::uint64_t value() const {
    std::uint64_t value = 0;
    for (const auto octet : octets) {
      value = (value << 8) | octet;
    }
    return value;
  }
  // This takes two comparisons of numbers, where that of arrays is a call.
  friend constexpr bool operator==(const MacAddress& a, const MacAddress& b) {
    return __builtin_memcmp(a.octets.data(), b.octets.data(), sizeof a.octets) == 0;
  }
  friend constexpr auto operator<=>(const MacAddress&, const MacAddress&) = default;
};

// A bridge never forwards frames to 01:80:c2:00:00:00 to 0f (IEEE 802.1Q, table 8-1).
constexpr bool is_reserved_group(const MacAddress& mac) {
  return mac.octets[0] == 0x01 && mac.octets[1] == 0x80 && mac.octets[2] == 0xc2 &&
         mac.octets[3] == 0 && mac.octets[4] == 0 && mac.octets[5] < 0x10;
}

inline constexpr MacAddress broadcast_mac{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};

namespace ethertype {
inline constexpr std::uint16_t ipv4 = 0x0800;
inline constexpr std::uint16_t arp = 0x0806;
inline constexpr std::uint16_t vlan = 0x8100;  // a tag; wire/vlan.h
inline constexpr std::uint16_t ipv6 = 0x86dd;
inline constexpr std::uint16_t mac_control = 0x8808;
}  // namespace ethertype

// IEEE 802.3 clause 3, without the frame check sequence.
struct [[gnu::packed]] EthernetHeader {
  MacAddress destination;
  MacAddress source;
  be16 type;
};
static_assert(sizeof(EthernetHeader) == 14 && alignof(EthernetHeader) == 1);

// A frame occupies so much on the line beyond its bytes: preamble and start delimiter (8), frame
// check sequence (4), inter-packet gap (12). Shapers and efficiency figures count it.
inline constexpr std::uint32_t ethernet_line_overhead_bytes = 24;
inline constexpr std::uint32_t ethernet_min_frame_bytes = 60;

}  // namespace tributary::wire
