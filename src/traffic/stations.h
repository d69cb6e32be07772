// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "wire/embedding_prefix.h"
#include "wire/ethernet.h"
#include "wire/ip_address.h"
#include "wire/ipv4.h"

namespace tributary::traffic {

// A StationRange is the virtual hosts behind one port, which have consecutive MAC and IP addresses.
struct StationRange {
  wire::MacAddress mac;
  wire::Ipv4Address address;
  std::uint32_t count = 1;
  // Frames for other hosts go to this MAC address, or to that of this router, which is asked for;
  // they go to the host itself if there is neither.
  std::optional<wire::MacAddress> gateway_mac;
  std::optional<wire::IpAddress> gateway;
  // The hosts have addresses of IPv6, which have this prefix and embed those from `address` on, in
  // place of IPv4's. All ports have one, or none.
  std::optional<wire::EmbeddingPrefix> prefix = std::nullopt;
};

class Stations {
 public:
  explicit Stations(std::vector<StationRange> ranges) : ranges_(std::move(ranges)) {}

  std::size_t ports() const { return ranges_.size(); }
  const StationRange& range(std::size_t port) const { return ranges_[port]; }
  bool over_ipv6() const { return !ranges_.empty() && ranges_.front().prefix.has_value(); }

  wire::MacAddress mac(std::size_t port, std::uint32_t index) const {
    auto mac = ranges_[port].mac;
    std::uint64_t carry = index;
    for (std::size_t octet = mac.octets.size(); octet > 0 && carry != 0; --octet) {
      carry += mac.octets[octet - 1];
      mac.octets[octet - 1] = static_cast<std::uint8_t>(carry);
      carry >>= 8;
    }
    return mac;
  }
  wire::Ipv4Address address(std::size_t port, std::uint32_t index) const {
    return wire::Ipv4Address(ranges_[port].address.value() + index);
  }
  // Returns the address of the version that the stations speak.
  wire::IpAddress ip(std::size_t port, std::uint32_t index) const {
    const auto& prefix = ranges_[port].prefix;
    return prefix ? prefix->embed(address(port, index)) : wire::IpAddress(address(port, index));
  }
  // These return the station behind `port` that has this address.
  std::optional<std::uint32_t> find(std::size_t port, wire::Ipv4Address address) const {
    const std::uint32_t index = address.value() - ranges_[port].address.value();
    return index < ranges_[port].count ? std::optional(index) : std::nullopt;
  }
  std::optional<std::uint32_t> find_ip(std::size_t port, const wire::IpAddress& address) const {
    const auto& prefix = ranges_[port].prefix;
    const bool fits = prefix ? wire::EmbeddingPrefix::of(address) == *prefix : address.is_v4();
    return fits ? find(port, wire::EmbeddingPrefix::embedded_in(address)) : std::nullopt;
  }

 private:
  std::vector<StationRange> ranges_;
};

}  // namespace tributary::traffic
