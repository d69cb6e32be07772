// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "wire/ethernet.h"
#include "wire/ipv4.h"

namespace tributary::wire {

// Returns the destination MAC address of an IPv4 multicast group (RFC 1112, 6.4).
constexpr MacAddress multicast_mac(Ipv4Address group) {
  const auto low = group.value() & 0x7fffff;
  return MacAddress{{0x01, 0x00, 0x5e, static_cast<std::uint8_t>(low >> 16),
                     static_cast<std::uint8_t>(low >> 8), static_cast<std::uint8_t>(low)}};
}

}  // namespace tributary::wire
