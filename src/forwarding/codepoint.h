// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "packet/packet.h"

namespace tributary::forwarding {

// This is the six-bit codepoint of the differentiated services field (RFC 2474).
struct Codepoint {
  std::uint8_t value = 0;

  friend bool operator==(const Codepoint&, const Codepoint&) = default;
};

inline constexpr std::uint8_t codepoints = 64;

// Returns the upper three bits: the priority of 802.1p and of priority flow control.
constexpr std::uint8_t class_selector(Codepoint codepoint) {
  return codepoint.value >> 3;
}

// Returns the codepoint of a frame of IPv4 or IPv6, also behind a VLAN tag; 0 if it is not IP.
std::uint8_t codepoint_of(const Packet& frame);
// Returns its class selector. A tag does not count: a frame is of the same class on both sides of
// the port that puts the tag on or takes it off.
std::uint8_t priority_of(const Packet& frame);

// A codepoint is written by the name that operators know, "cs1", "af21" or "ef", or else by its
// number.
std::string to_string(Codepoint codepoint);
std::optional<Codepoint> codepoint_named(std::string_view text);

}  // namespace tributary::forwarding
