// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>

#include "property/reference.h"

namespace tributary::test {

// Bytes around every buffer, which show writes beyond it.
inline constexpr std::size_t guard_bytes = 64;
inline constexpr std::byte guard{0xa5};

inline Data guarded(const Data& content) {
  Data buffer(content.size() + 2 * guard_bytes, guard);
  std::copy(content.begin(), content.end(), buffer.begin() + guard_bytes);
  return buffer;
}

inline bool holds(const Data& buffer, const Data& content) {
  return buffer == guarded(content);
}

inline bool guards_hold(const Data& buffer) {
  const auto is_guard = [](std::byte b) { return b == guard; };
  return std::all_of(buffer.begin(), buffer.begin() + guard_bytes, is_guard) &&
         std::all_of(buffer.end() - guard_bytes, buffer.end(), is_guard);
}

}  // namespace tributary::test
