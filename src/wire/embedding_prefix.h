// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "wire/ip_address.h"
#include "wire/ipv4.h"

namespace tributary::wire {

// IPv6 addresses with these upper 96 bits embed an IPv4 address in the lower 32 (RFC 6052, section
// 2.2). Protocols that know hosts by 32 bits know the hosts of such addresses by what is embedded.
struct EmbeddingPrefix {
  std::uint64_t high = 0;
  std::uint32_t middle = 0;

  static constexpr std::uint8_t length = 96;

  // Returns the prefix that `address` has.
  static constexpr EmbeddingPrefix of(const IpAddress& address) {
    return {address.high(), static_cast<std::uint32_t>(address.low() >> 32)};
  }
  static constexpr Ipv4Address embedded_in(const IpAddress& address) {
    return Ipv4Address(static_cast<std::uint32_t>(address.low()));
  }
  constexpr IpAddress embed(const Ipv4Address& address) const {
    return IpAddress::of_halves(high, std::uint64_t{middle} << 32 | address.value());
  }

  friend constexpr bool operator==(const EmbeddingPrefix&, const EmbeddingPrefix&) = default;
};

}  // namespace tributary::wire
