// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "wire/endian.h"

namespace tributary::wire {

// RFC 768. A checksum of zero means "none", which IPv4 allows.
struct [[gnu::packed]] UdpHeader {
  be16 source_port;
  be16 destination_port;
  be16 length;  // header and payload
  be16 checksum;
};
static_assert(sizeof(UdpHeader) == 8 && alignof(UdpHeader) == 1);

// RFC 9293, without options.
struct [[gnu::packed]] TcpHeader {
  be16 source_port;
  be16 destination_port;
  be32 sequence;
  be32 acknowledgement;
  std::uint8_t data_offset = 0;
  std::uint8_t flags = 0;
  be16 window;
  be16 checksum;
  be16 urgent;
};
static_assert(sizeof(TcpHeader) == 20 && alignof(TcpHeader) == 1);

// RFC 792. `rest` is identifier and sequence of an echo, unused (zero) in time-exceeded.
struct [[gnu::packed]] IcmpHeader {
  static constexpr std::uint8_t echo_reply = 0;
  static constexpr std::uint8_t destination_unreachable = 3;
  static constexpr std::uint8_t echo_request = 8;
  static constexpr std::uint8_t time_exceeded = 11;

  std::uint8_t type = 0;
  std::uint8_t code = 0;
  be16 checksum;
  be32 rest;
};
static_assert(sizeof(IcmpHeader) == 8 && alignof(IcmpHeader) == 1);

}  // namespace tributary::wire
