// SPDX-License-Identifier: BSD-3-Clause
// Here addresses and prefixes of IPv6 are read.
#include <arpa/inet.h>
#include <array>
#include <optional>

#include "control/text.h"
#include "control/text_parts.h"

namespace tributary::control {
namespace {

std::optional<wire::IpAddress> ipv6_of(std::string_view text) {
  std::array<std::uint8_t, 16> octets{};
  return parse_octets(AF_INET6, text, octets.data()) ? std::optional(wire::IpAddress(octets))
                                                     : std::nullopt;
}

Parsed<forwarding::InterfaceAddress6> parse_with_length6(std::string_view text,
                                                         std::string_view example) {
  return parse_with_length<forwarding::InterfaceAddress6>(text, example, "IPv6", 128, ipv6_of);
}

}  // namespace

Parsed<wire::IpAddress> parse_ipv6(std::string_view text) {
  if (text.find(':') == std::string_view::npos) {
    return tl::unexpected(
        Complaint{quoted(text) + " is not an IPv6 address", "write it like \"fd00::1\""});
  }
  auto address = parse_ip(text);
  if (address && address->is_link_local()) {
    return tl::unexpected(
        Complaint{quoted(text) + " is an address of one link",
                  "each interface has one of its own accord; name one that holds on all links"});
  }
  return address;
}

Parsed<forwarding::Prefix6> parse_prefix6(std::string_view text) {
  const auto parsed = parse_with_length6(text, "2001:db8::/32");
  if (!parsed) {
    return tl::unexpected(parsed.error());
  }
  const auto prefix = prefix_of(*parsed);
  if (prefix.network != parsed->address) {
    return tl::unexpected(Complaint{quoted(text) + " has host bits set",
                                    "did you mean \"" + to_string(prefix) + "\"?"});
  }
  return prefix;
}

Parsed<wire::EmbeddingPrefix> parse_embedding_prefix(std::string_view text) {
  const auto prefix = parse_prefix6(text);
  if (!prefix) {
    return tl::unexpected(prefix.error());
  }
  if (prefix->length != wire::EmbeddingPrefix::length) {
    return tl::unexpected(
        Complaint{"the prefix " + quoted(text) + " has " + std::to_string(prefix->length) + " bits",
                  "it is to have 96, as the 32 behind them tell hosts apart: "
                  "\"2001:db8:64::/96\""});
  }
  const auto& network = prefix->network;
  if (network.is_multicast() || network.is_link_local() || network.high() == 0) {
    return tl::unexpected(Complaint{quoted(text) + " is no prefix of hosts that are routed to",
                                    "write it like \"2001:db8:64::/96\""});
  }
  return wire::EmbeddingPrefix::of(network);
}

Parsed<forwarding::InterfaceAddress6> parse_interface_address6(std::string_view text) {
  const auto parsed = parse_with_length6(text, "2001:db8:1::1/64");
  if (!parsed) {
    return parsed;
  }
  if (const auto host = parse_ipv6(text.substr(0, text.find('/'))); !host) {
    return tl::unexpected(host.error());
  }
  if (parsed->length < 16) {
    return tl::unexpected(Complaint{"prefix of " + quoted(text) + " is too wide",
                                    "an interface's prefix has 16 to 128 bits, mostly 64"});
  }
  // All routers of the prefix have this address (RFC 4291, 2.6.1).
  if (parsed->length < 127 && prefix_of(*parsed).network == parsed->address) {
    return tl::unexpected(Complaint{quoted(text) + " is the anycast address of its routers",
                                    "choose an address behind it"});
  }
  return parsed;
}

std::string to_string(const forwarding::Prefix6& prefix) {
  return to_string(prefix.network) + '/' + std::to_string(prefix.length);
}

std::string to_string(const wire::EmbeddingPrefix& prefix) {
  return to_string(
      forwarding::Prefix6{prefix.embed(wire::Ipv4Address()), wire::EmbeddingPrefix::length});
}

std::string to_string(const forwarding::InterfaceAddress6& address) {
  return to_string(address.address) + '/' + std::to_string(address.length);
}

}  // namespace tributary::control
