// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "control/text.h"

// The readers of both versions of IP have this in common. Only text*.cpp includes it.
namespace tributary::control {

// Quotes at most so much of it as a line of a message takes.
inline std::string quoted(std::string_view text) {
  return "`" + std::string(text.substr(0, 64)) + "`";
}

// Reads as inet_pton(3) does, which would not see what stands behind a zero.
bool parse_octets(int family, std::string_view text, void* octets);

// Reads "ADDRESS/LENGTH" of a version of IP: `address_of` reads its addresses, and returns nothing
// for what is none.
template <class Interface, class AddressOf>
Parsed<Interface> parse_with_length(std::string_view text, std::string_view example,
                                    std::string_view version, unsigned longest,
                                    AddressOf address_of) {
  const std::string hint = "write it like \"" + std::string(example) + "\"";
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) {
    return tl::unexpected(Complaint{quoted(text) + " has no prefix length", hint});
  }
  const auto address = address_of(text.substr(0, slash));
  if (!address) {
    return tl::unexpected(Complaint{
        quoted(text) + " is not an " + std::string(version) + " address with length", hint});
  }
  unsigned length = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data() + slash + 1, last, length);
  if (error != std::errc{} || end != last || length > longest) {
    return tl::unexpected(Complaint{
        "prefix length of " + quoted(text) + " is not 0 to " + std::to_string(longest), hint});
  }
  return Interface{*address, static_cast<std::uint8_t>(length)};
}

}  // namespace tributary::control
