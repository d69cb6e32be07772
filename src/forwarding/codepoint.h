// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tributary::forwarding {

// Of the differentiated services field (RFC 2474): six bits.
struct Codepoint {
  std::uint8_t value = 0;

  friend bool operator==(const Codepoint&, const Codepoint&) = default;
};

inline constexpr std::uint8_t codepoints = 64;

// By the name that operators know it by, "cs1", "af21" or "ef", or else by its number.
std::string to_string(Codepoint codepoint);
std::optional<Codepoint> codepoint_named(std::string_view text);

}  // namespace tributary::forwarding
