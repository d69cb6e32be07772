// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "wire/endian.h"
#include "wire/ethernet.h"

namespace tributary::wire {

// RFC 4443. `rest` is identifier and sequence of an echo, the MTU in "packet too big", the place of
// a problem with a parameter; in others it is unused.
struct [[gnu::packed]] Icmp6Header {
  static constexpr std::uint8_t unreachable = 1;
  static constexpr std::uint8_t packet_too_big = 2;
  static constexpr std::uint8_t time_exceeded = 3;
  static constexpr std::uint8_t parameter_problem = 4;
  static constexpr std::uint8_t echo_request = 128;  // from here on, messages are no errors
  static constexpr std::uint8_t echo_reply = 129;
  static constexpr std::uint8_t router_solicitation = 133;
  static constexpr std::uint8_t router_advertisement = 134;
  static constexpr std::uint8_t neighbour_solicitation = 135;
  static constexpr std::uint8_t neighbour_advertisement = 136;
  static constexpr std::uint8_t redirect = 137;

  std::uint8_t type = 0;
  std::uint8_t code = 0;
  be16 checksum;
  be32 rest;
};
static_assert(sizeof(Icmp6Header) == 8 && alignof(Icmp6Header) == 1);

// A neighbour solicitation asks who has `target`, and an advertisement tells that its sender has it
// (RFC 4861, 4.3 and 4.4). Options follow.
struct [[gnu::packed]] NeighbourMessage {
  // These are flags of `icmp.rest`, in an advertisement.
  static constexpr std::uint32_t is_router = 0x80000000;
  static constexpr std::uint32_t is_solicited = 0x40000000;
  static constexpr std::uint32_t overrides = 0x20000000;
  static constexpr std::uint8_t hop_limit = 255;  // what comes from further than a hop has less

  Icmp6Header icmp;
  std::array<std::uint8_t, 16> target{};
};
static_assert(sizeof(NeighbourMessage) == 24 && alignof(NeighbourMessage) == 1);

// A router tells this to the hosts of a link (RFC 4861, 4.2). Options follow.
struct [[gnu::packed]] RouterAdvertisement {
  static constexpr std::uint8_t hop_limit = 255;  // as that of NeighbourMessage

  Icmp6Header icmp;    // `rest`: hop limit of hosts (8 bits), flags (8), lifetime in seconds (16)
  be32 reachable_ms;   // 0: the router does not say
  be32 retransmit_ms;  // 0: likewise
};
static_assert(sizeof(RouterAdvertisement) == 16 && alignof(RouterAdvertisement) == 1);

// This option has a link-layer address (RFC 4861, 4.6.1).
struct [[gnu::packed]] LinkAddressOption {
  static constexpr std::uint8_t of_source = 1;
  static constexpr std::uint8_t of_target = 2;

  std::uint8_t type = 0;
  std::uint8_t length = 1;  // in units of 8 bytes
  MacAddress mac;
};
static_assert(sizeof(LinkAddressOption) == 8 && alignof(LinkAddressOption) == 1);

// This option names a prefix of the link (RFC 4861, 4.6.2).
struct [[gnu::packed]] PrefixOption {
  static constexpr std::uint8_t on_link = 0x80;     // the prefix's addresses are neighbours
  static constexpr std::uint8_t autonomous = 0x40;  // hosts make addresses of it (RFC 4862)

  std::uint8_t type = 3;
  std::uint8_t length = 4;  // in units of 8 bytes
  std::uint8_t prefix_length = 0;
  std::uint8_t flags = 0;
  be32 valid_s;
  be32 preferred_s;
  be32 reserved;
  std::array<std::uint8_t, 16> prefix{};
};
static_assert(sizeof(PrefixOption) == 32 && alignof(PrefixOption) == 1);

// This option has the MTU of the link (RFC 4861, 4.6.4).
struct [[gnu::packed]] MtuOption {
  std::uint8_t type = 5;
  std::uint8_t length = 1;  // in units of 8 bytes
  be16 reserved;
  be32 mtu;
};
static_assert(sizeof(MtuOption) == 8 && alignof(MtuOption) == 1);

}  // namespace tributary::wire
