// SPDX-License-Identifier: BSD-3-Clause
// Addresses and prefixes of IPv6.
#include <arpa/inet.h>
#include <array>
#include <charconv>

#include "control/text.h"

namespace tributary::control {
namespace {

std::string in_quotes(std::string_view text) {
  return "`" + std::string(text.substr(0, 64)) + "`";
}

Parsed<forwarding::InterfaceAddress6> parse_with_length6(std::string_view text,
                                                         std::string_view example) {
  const std::string hint = "write it like \"" + std::string(example) + "\"";
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) {
    return tl::unexpected(Complaint{in_quotes(text) + " has no prefix length", hint});
  }
  std::array<std::uint8_t, 16> octets{};
  const std::string address(text.substr(0, slash));
  if (address.find('\0') != std::string::npos ||
      inet_pton(AF_INET6, address.c_str(), octets.data()) != 1) {
    return tl::unexpected(Complaint{in_quotes(text) + " is not an IPv6 address with length", hint});
  }
  unsigned length = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data() + slash + 1, last, length);
  if (error != std::errc{} || end != last || length > 128) {
    return tl::unexpected(
        Complaint{"prefix length of " + in_quotes(text) + " is not 0 to 128", hint});
  }
  return forwarding::InterfaceAddress6{wire::IpAddress(octets), static_cast<std::uint8_t>(length)};
}

}  // namespace

Parsed<wire::IpAddress> parse_ipv6(std::string_view text) {
  if (text.find(':') == std::string_view::npos) {
    return tl::unexpected(
        Complaint{in_quotes(text) + " is not an IPv6 address", "write it like \"fd00::1\""});
  }
  auto address = parse_ip(text);
  if (address && address->is_link_local()) {
    return tl::unexpected(
        Complaint{in_quotes(text) + " is an address of one link",
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
    return tl::unexpected(Complaint{in_quotes(text) + " has host bits set",
                                    "did you mean \"" + to_string(prefix) + "\"?"});
  }
  return prefix;
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
    return tl::unexpected(Complaint{"prefix of " + in_quotes(text) + " is too wide",
                                    "an interface's prefix has 16 to 128 bits, mostly 64"});
  }
  // RFC 4291, 2.6.1: all routers of the prefix have it.
  if (parsed->length < 127 && prefix_of(*parsed).network == parsed->address) {
    return tl::unexpected(Complaint{in_quotes(text) + " is the anycast address of its routers",
                                    "choose an address behind it"});
  }
  return parsed;
}

std::string to_string(const forwarding::Prefix6& prefix) {
  return to_string(prefix.network) + '/' + std::to_string(prefix.length);
}

std::string to_string(const forwarding::InterfaceAddress6& address) {
  return to_string(address.address) + '/' + std::to_string(address.length);
}

}  // namespace tributary::control
