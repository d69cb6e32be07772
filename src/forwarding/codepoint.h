// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "packet/packet.h"
#include "wire/pause.h"

namespace tributary::forwarding {

// This is the six-bit codepoint of the differentiated services field (RFC 2474).
struct Codepoint {
  std::uint8_t value = 0;

  friend bool operator==(const Codepoint&, const Codepoint&) = default;
};

inline constexpr std::uint8_t codepoints = 64;

// The class of a frame follows from its marking. That is its codepoint or, where the port that it
// came by trusts tags, the priority (PCP) of its tag, behind all codepoints.
inline constexpr std::uint8_t markings = codepoints + wire::priority_classes;

constexpr std::uint8_t marking_of_priority(std::size_t priority) {
  return static_cast<std::uint8_t>(codepoints + priority);
}
// Returns the priority of 802.1p and of priority flow control: the upper three bits of a codepoint
// (its class selector), or the priority of the tag.
constexpr std::uint8_t priority_of_marking(std::uint8_t marking) {
  return static_cast<std::uint8_t>(marking < codepoints ? marking >> 3 : marking - codepoints);
}

// Returns the codepoint of a frame of IPv4 or IPv6, also behind a VLAN tag; 0 if it is not IP.
std::uint8_t codepoint_of(const Packet& frame);
// Returns what the class of a frame goes by. A tag that it has now does not count: a frame is of
// the same class on both sides of the port that puts the tag on or takes it off.
inline std::uint8_t marking_of(const Packet& frame) {
  return frame.marking != 0 ? frame.marking : codepoint_of(frame);
}
inline std::uint8_t priority_of(const Packet& frame) {
  return priority_of_marking(marking_of(frame));
}
// Has the class of a frame go by its tag (IEEE 802.1Q): without a tag its priority is 0.
void trust_tag(Packet& frame);

// A codepoint is written by the name that operators know, "cs1", "af21" or "ef", or else by its
// number.
std::string to_string(Codepoint codepoint);
std::optional<Codepoint> codepoint_named(std::string_view text);

}  // namespace tributary::forwarding
