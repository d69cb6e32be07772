// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "wire/ip_address.h"
#include "wire/ipv4.h"

namespace tributary::wire {

// IPv6 addresses with these upper 96 bits embed an IPv4 address in the lower 32 (RFC 6052, section
// 2.2). Protocols that know hosts by 32 bits know the hosts of such addresses by what is embedded.
// Multicast groups are those of groups(), whatever the prefix of the hosts is.
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
  // Returns the prefix of the groups that embed one of IPv4: transient ones, as no authority
  // assigned them, of the scope of an organization (RFC 4291, section 2.7), as 239.192/14 is.
  static constexpr EmbeddingPrefix groups() { return {0xff18000000000000, 0}; }

  constexpr IpAddress embed(const Ipv4Address& address) const {
    return IpAddress::of_halves(high, std::uint64_t{middle} << 32 | address.value());
  }
  // Returns the prefix of where packets to `address`, a host or a group, go.
  constexpr EmbeddingPrefix towards(const Ipv4Address& address) const {
    return address.is_multicast() ? groups() : *this;
  }
  // Returns whether packets to the lower 32 bits of `address` go there.
  constexpr bool embeds(const IpAddress& address) const {
    return towards(embedded_in(address)) == of(address);
  }

  friend constexpr bool operator==(const EmbeddingPrefix&, const EmbeddingPrefix&) = default;
};

}  // namespace tributary::wire
