// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "reduce/element_types.h"
#include "wire/element.h"

namespace tributary::host::exact {

// The bits of a float type: a sign, an exponent with a bias, a fraction.
template <typename BitsType, int fraction, int bias, bool with_infinity, BitsType nan_bits>
struct FloatBits {
  using Bits = BitsType;
  static constexpr int fraction_bits = fraction;
  static constexpr int exponent_bias = bias;
  static constexpr int least = 1 - bias - fraction;  // 2^least is the least number above 0
  static constexpr bool has_infinity = with_infinity;
  static constexpr Bits nan = nan_bits;  // the NaN that results have
  // All bits but the sign.
  static constexpr Bits magnitude = static_cast<Bits>(static_cast<Bits>(~Bits{0}) >> 1);
  static constexpr Bits sign = static_cast<Bits>(~magnitude);
  // The least magnitude that is no finite number: infinity, or NaN where there is none.
  static constexpr Bits beyond =
      with_infinity ? static_cast<Bits>(magnitude >> fraction << fraction) : magnitude;

  static constexpr Bits magnitude_of(Bits bits) { return static_cast<Bits>(bits & magnitude); }
  static constexpr bool is_finite(Bits bits) { return magnitude_of(bits) < beyond; }
  static constexpr bool is_negative(Bits bits) { return bits > magnitude; }
  static constexpr bool is_nan(Bits bits) {
    return with_infinity ? magnitude_of(bits) > beyond : magnitude_of(bits) == beyond;
  }
};

template <typename T>
struct Format;
template <>
struct Format<float> : FloatBits<std::uint32_t, 23, 127, true, 0x7fc00000u> {};
template <>
struct Format<double> : FloatBits<std::uint64_t, 52, 1023, true, 0x7ff8000000000000u> {};
template <>
struct Format<reduce::half> : FloatBits<std::uint16_t, 10, 15, true, 0x7e00u> {};
template <>
struct Format<reduce::bfloat16> : FloatBits<std::uint16_t, 7, 127, true, 0x7fc0u> {};
template <>
struct Format<reduce::float8_e4m3> : FloatBits<std::uint8_t, 3, 7, false, 0x7fu> {};
template <>
struct Format<reduce::float8_e5m2> : FloatBits<std::uint8_t, 2, 15, true, 0x7eu> {};

// Tells whether the type is a float: neither an integer nor a pair, nor one that only handlers
// know.
constexpr bool is_float(wire::ElementType type) {
  return !wire::is_integer(type) && !wire::is_pair(type) && !wire::is_opaque(type);
}

// Calls f with a value of the C++ type. Precondition: it is a float.
template <typename F>
auto with_float(wire::ElementType type, F f) {
  return reduce::with_type(reduce::FloatTypes{}, type, f);
}

}  // namespace tributary::host::exact
