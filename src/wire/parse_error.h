// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tributary::wire {

// A ParseError tells what is wrong with a packet of a protocol that has a header of its own in
// front of the elements.
enum class ParseError : std::uint8_t {
  none,
  truncated,  // shorter than header and elements
  oversized,  // longer than header and elements (UDP; Ethernet pads short frames)
  version,    // not the current one
  malformed,  // unknown kind, type, operator; impossible count or length; reserved bits
  crc,        // damaged on the way
};

inline constexpr std::array<std::string_view, 6> parse_error_names = {
    "none", "truncated", "oversized", "version", "malformed", "crc"};
constexpr std::string_view name(ParseError error) {
  return parse_error_names[static_cast<std::size_t>(error)];
}

}  // namespace tributary::wire
