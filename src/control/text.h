// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "forwarding/config.h"
#include "packet/clock.h"
#include "wire/embedding_prefix.h"
#include "wire/ethernet.h"
#include "wire/ip_address.h"
#include "wire/ipv4.h"

namespace tributary::control {

// A Complaint says what is wrong with a piece of text that an operator wrote, and what would be
// right.
struct Complaint {
  std::string message;
  std::string hint;
};
template <class T>
using Parsed = tl::expected<T, Complaint>;

// Quantities always carry their unit: "1ms", "200Mbit", "1MiB". Fractions are allowed.
Parsed<Duration> parse_duration(std::string_view text);        // ns us ms s min h d
Parsed<std::uint64_t> parse_rate(std::string_view text);       // bit kbit Mbit Gbit Tbit per second
Parsed<std::uint64_t> parse_size(std::string_view text);       // B kB MB GB KiB MiB GiB
Parsed<wire::MacAddress> parse_mac(std::string_view text);     // of one station: no group, not zero
Parsed<wire::Ipv4Address> parse_ipv4(std::string_view text);   // of one host
Parsed<wire::IpAddress> parse_ip(std::string_view text);       // of one host, of either version
Parsed<wire::Ipv4Address> parse_group(std::string_view text);  // of a multicast group
Parsed<forwarding::Prefix> parse_prefix(std::string_view text);  // no host bits set
Parsed<forwarding::InterfaceAddress> parse_interface_address(std::string_view text);
Parsed<forwarding::Prefix6> parse_prefix6(std::string_view text);
Parsed<forwarding::InterfaceAddress6> parse_interface_address6(std::string_view text);
Parsed<wire::EmbeddingPrefix> parse_embedding_prefix(std::string_view text);
Parsed<wire::IpAddress> parse_ipv6(std::string_view text);     // of one host, and not link-local
Parsed<forwarding::VidSet> parse_vids(std::string_view text);  // "10,20,30-39"
Parsed<forwarding::Priorities> parse_priorities(std::string_view text);  // "3,4"

std::string to_string(wire::Ipv4Address address);
std::string to_string(const wire::IpAddress& address);
std::string to_string(const wire::MacAddress& mac);
std::string to_string(const forwarding::Prefix& prefix);
std::string to_string(const forwarding::InterfaceAddress& address);
std::string to_string(const forwarding::Prefix6& prefix);
std::string to_string(const forwarding::InterfaceAddress6& address);
std::string to_string(const wire::EmbeddingPrefix& prefix);
std::string to_string(const forwarding::VidSet& vids);
// Quantities are written in the largest unit that divides the value.
std::string duration_text(Duration duration);
std::string rate_text(std::uint64_t bits_per_second);
std::string size_text(std::uint64_t bytes);

using forwarding::prefix_mask;

}  // namespace tributary::control
