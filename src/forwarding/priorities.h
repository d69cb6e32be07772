// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/pause.h"

namespace tributary::forwarding {

// Of the eight priorities of IEEE 802.1Qbb, these are not to lose a frame: all, unless some are
// named.
struct Priorities {
  std::uint8_t bits = wire::all_classes;

  constexpr bool has(std::size_t priority) const { return ((bits >> priority) & 1) != 0; }
  constexpr bool is_unspecified() const { return bits == wire::all_classes; }

  friend constexpr bool operator==(const Priorities&, const Priorities&) = default;
};

// The text is like "3,4".
inline std::string to_string(Priorities priorities) {
  std::string text;
  for (std::size_t priority = 0; priority < wire::priority_classes; ++priority) {
    if (priorities.has(priority)) {
      text += (text.empty() ? "" : ",") + std::to_string(priority);
    }
  }
  return text;
}

// The text has digits from 0 to 7 with a comma between them, each once.
inline std::optional<Priorities> priorities_named(std::string_view text) {
  Priorities priorities{0};
  for (std::size_t at = 0; at < text.size(); at += 2) {
    const auto priority = static_cast<std::size_t>(text[at] - '0');
    const bool ends_well = at + 1 == text.size() || (text[at + 1] == ',' && at + 2 < text.size());
    if (priority >= wire::priority_classes || priorities.has(priority) || !ends_well) {
      return std::nullopt;
    }
    priorities.bits = static_cast<std::uint8_t>(priorities.bits | 1u << priority);
  }
  return text.empty() ? std::nullopt : std::optional(priorities);
}

}  // namespace tributary::forwarding
