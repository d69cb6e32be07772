// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tributary::reduce {

// An int4_pair is two signed integers of four bits in a byte, each from -8 to 7.
struct int4_pair {
  std::uint8_t bits = 0;  // the first in the low half

  constexpr int4_pair() = default;
  // Of a number that does not fit, the low four bits are kept.
  constexpr int4_pair(int first, int second)
      : bits(static_cast<std::uint8_t>((first & 0x0f) | (second & 0x0f) << 4)) {}

  constexpr int first() const { return signed_of(bits & 0x0f); }
  constexpr int second() const { return signed_of(bits >> 4); }

  friend constexpr bool operator==(int4_pair, int4_pair) = default;

 private:
  static constexpr int signed_of(int nibble) { return nibble < 8 ? nibble : nibble - 16; }
};

static_assert(sizeof(int4_pair) == 1);

}  // namespace tributary::reduce
