// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "packet/packet.h"

namespace tributary::forwarding {

// Of the differentiated services field (RFC 2474): six bits.
struct Codepoint {
  std::uint8_t value = 0;

  friend bool operator==(const Codepoint&, const Codepoint&) = default;
};

inline constexpr std::uint8_t codepoints = 64;

// Of a frame of IPv4 or IPv6, also behind a VLAN tag; 0 of what is not IP.
std::uint8_t codepoint_of(const Packet& frame);
// Its class selector, the upper three bits: the priority of 802.1p and of priority flow control. A
// tag does not count: frames are of the same class on both sides of the port that puts it on or
// takes it off.
std::uint8_t priority_of(const Packet& frame);

// By the name that operators know it by, "cs1", "af21" or "ef", or else by its number.
std::string to_string(Codepoint codepoint);
std::optional<Codepoint> codepoint_named(std::string_view text);

}  // namespace tributary::forwarding
