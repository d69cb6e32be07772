// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "wire/endian.h"

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
};
static_assert(sizeof(Ipv6Header) == 40 && alignof(Ipv6Header) == 1);

}  // namespace tributary::wire
