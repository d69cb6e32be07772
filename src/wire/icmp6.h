// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "wire/endian.h"
#include "wire/ethernet.h"

namespace tributary::wire {

// RFC 4443. `rest` is identifier and sequence of an echo, the MTU in packet too big, the place of a
// problem with a parameter, else unused.
struct [[gnu::packed]] Icmp6Header {
  static constexpr std::uint8_t unreachable = 1;
  static constexpr std::uint8_t packet_too_big = 2;
  static constexpr std::uint8_t time_exceeded = 3;
  static constexpr std::uint8_t parameter_problem = 4;
  static constexpr std::uint8_t echo_request = 128;  // from here on, messages are no errors
  static constexpr std::uint8_t echo_reply = 129;
  static constexpr std::uint8_t neighbour_solicitation = 135;
  static constexpr std::uint8_t neighbour_advertisement = 136;
  static constexpr std::uint8_t redirect = 137;

  std::uint8_t type = 0;
  std::uint8_t code = 0;
  be16 checksum;
  be32 rest;
};
static_assert(sizeof(Icmp6Header) == 8 && alignof(Icmp6Header) == 1);

// Neighbour solicitation and advertisement (RFC 4861, 4.3 and 4.4): who has `target`, and that its
// sender has it. Options follow.
struct [[gnu::packed]] NeighbourMessage {
  // Of `icmp.rest`, in an advertisement.
  static constexpr std::uint32_t is_router = 0x80000000;
  static constexpr std::uint32_t is_solicited = 0x40000000;
  static constexpr std::uint32_t overrides = 0x20000000;
  static constexpr std::uint8_t hop_limit = 255;  // what comes from further than a hop has less

  Icmp6Header icmp;
  std::array<std::uint8_t, 16> target{};
};
static_assert(sizeof(NeighbourMessage) == 24 && alignof(NeighbourMessage) == 1);

// The option with a link-layer address (RFC 4861, 4.6.1).
struct [[gnu::packed]] LinkAddressOption {
  static constexpr std::uint8_t of_source = 1;
  static constexpr std::uint8_t of_target = 2;

  std::uint8_t type = 0;
  std::uint8_t length = 1;  // in units of 8 bytes
  MacAddress mac;
};
static_assert(sizeof(LinkAddressOption) == 8 && alignof(LinkAddressOption) == 1);

}  // namespace tributary::wire
