// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>

#include "wire/endian.h"
#include "wire/ipv4.h"

namespace tributary::wire {

// An IpAddress is of either version, for code that treats both alike: sixteen bytes, an IPv4
// address as ::ffff:a.b.c.d (RFC 4291, 2.5.5.2). It is two integers, so that it is cheap to compare
// and to hash.
class IpAddress {
 public:
  constexpr IpAddress() = default;
  // The conversion is implicit because every IPv4 address is an IpAddress.
  constexpr IpAddress(const Ipv4Address& address) : low_(mapped | address.value()) {}
  explicit IpAddress(const std::array<std::uint8_t, 16>& octets) {
    std::array<be64, 2> halves;
    std::memcpy(halves.data(), octets.data(), sizeof halves);
    high_ = halves[0].value();
    low_ = halves[1].value();
  }

  std::array<std::uint8_t, 16> octets() const {
    const std::array<be64, 2> halves = {be64(high_), be64(low_)};
    std::array<std::uint8_t, 16> octets;
    std::memcpy(octets.data(), halves.data(), sizeof octets);
    return octets;
  }
  constexpr bool is_v4() const { return high_ == 0 && low_ >> 32 == mapped >> 32; }
  // Precondition: is_v4().
  constexpr Ipv4Address v4() const { return Ipv4Address(static_cast<std::uint32_t>(low_)); }

  // Makes an address of the two numbers that high() and low() return.
  static constexpr IpAddress of_halves(std::uint64_t high, std::uint64_t low) {
    IpAddress address;
    address.high_ = high;
    address.low_ = low;
    return address;
  }

  constexpr bool is_unspecified() const { return high_ == 0 && low_ == 0; }
  // These ask about addresses of version 6 (RFC 4291, 2.5.3, 2.5.6 and 2.7).
  constexpr bool is_loopback() const { return high_ == 0 && low_ == 1; }
  constexpr bool is_link_local() const { return high_ >> 54 == 0xfe80u >> 6; }
  constexpr bool is_multicast() const { return high_ >> 56 == 0xff; }

  constexpr std::uint64_t high() const { return high_; }
  constexpr std::uint64_t low() const { return low_; }

  friend constexpr auto operator<=>(const IpAddress&, const IpAddress&) = default;

 private:
  static constexpr std::uint64_t mapped = 0xffff00000000;

  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
};

}  // namespace tributary::wire
