// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "protocols/panama/wire.h"

namespace tributary::panama {

namespace detail {

// The part of the header in which the contributions to a row are alike, in words ...
using CommonWords = std::array<std::uint64_t, 4>;
static_assert(sizeof(CommonWords) == offsetof(wire::PanamaHeader, fingerprint));

// ... and the bits of it that are the same in all of them.
inline constexpr CommonWords common_bits = [] {
  std::array<unsigned char, sizeof(CommonWords)> bytes{};
  const auto cover = [&bytes](std::size_t first, std::size_t last) {
    std::fill(bytes.begin() + first, bytes.begin() + last, 0xff);
  };
  cover(offsetof(wire::PanamaHeader, job), offsetof(wire::PanamaHeader, wnd_cap));
  // Flags with the version, kind, type, operator, run and epoch are between these.
  cover(offsetof(wire::PanamaHeader, vid), offsetof(wire::PanamaHeader, contributions));
  cover(offsetof(wire::PanamaHeader, workers), offsetof(wire::PanamaHeader, rank));
  return std::bit_cast<CommonWords>(bytes);
}();

}  // namespace detail

// Whether `next` says the same of its row as the header that the row got from its first
// contribution: it differs in who sent it, and in what he adds, only. What followed from the rest
// is known.
inline bool repeats(const wire::PanamaHeader& next, const wire::PanamaHeader& first) {
  detail::CommonWords a;
  detail::CommonWords b;
  std::memcpy(a.data(), &next, sizeof a);
  std::memcpy(b.data(), &first, sizeof b);
  std::uint64_t differ = 0;
#pragma GCC unroll 4
  for (std::size_t i = 0; i < a.size(); ++i) {
    differ |= (a[i] ^ b[i]) & detail::common_bits[i];
  }
  return differ == 0;
}

}  // namespace tributary::panama
