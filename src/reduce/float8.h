// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>

namespace tributary::reduce {

// These are the two 8-bit formats of the Open Compute Project (OFP8). They have a sign, an exponent
// and a fraction of three bits (E4M3: up to 448, one NaN per sign, no infinities) or of two (E5M2:
// up to 57344, the upper byte of a binary16).
struct E4m3 {
  static constexpr int fraction_bits = 3;
  static constexpr std::uint32_t bias = 7;
  static constexpr std::uint32_t greatest = 0x7e;  // finite number
  static constexpr bool has_infinity = false;
};
struct E5m2 {
  static constexpr int fraction_bits = 2;
  static constexpr std::uint32_t bias = 15;
  static constexpr std::uint32_t greatest = 0x7b;
  static constexpr bool has_infinity = true;
};

// The conversions between f32 and such a format need to know this of it. A fraction is shifted by
// `shift` bits; multiplied by `rebias`, a number has the exponent bias of f32.
template <typename Layout>
struct Float8Constants {
  static constexpr int shift = 23 - Layout::fraction_bits;
  static constexpr float rebias = std::bit_cast<float>((127 + 127 - Layout::bias) << 23);
  // This is the least normal number, as an f32.
  static constexpr std::uint32_t normal_min = (128 - Layout::bias) << 23;
  // In f32 this has units as large as the format's least subnormal number.
  static constexpr std::uint32_t subnormal_unit = (128u - Layout::bias + shift) << 23;
  // The first is what lies between the biases, the second almost half of the last place.
  static constexpr std::uint32_t bias_apart = (127 - Layout::bias) << 23;
  static constexpr std::uint32_t below_half = (1u << (shift - 1)) - 1;
  // `nan` is what a NaN always has set, `payload` what it keeps.
  static constexpr std::uint32_t nan = Layout::has_infinity ? 0x7e : 0x7f;
  static constexpr std::uint32_t payload = (1u << Layout::fraction_bits) - 1;
};

// These convert on bits, step by step as the SIMD code does, so that both agree bit for bit.
// Rounding is to nearest, ties to even; subnormal numbers are exact. A finite number that is too
// great becomes the greatest one; so does an infinity in E4M3, which has none. A NaN stays a NaN:
// E5M2 keeps the upper bits of its payload and makes it quiet.

template <typename Layout>
constexpr float float_from_float8_bits(std::uint8_t bits) {
  using Constants = Float8Constants<Layout>;
  constexpr std::uint32_t infinity = Layout::greatest + 1;  // in E4M3 this is the NaN
  const std::uint32_t sign = (bits & 0x80u) << 24;
  const std::uint32_t magnitude = bits & 0x7fu;
  const std::uint32_t shifted = magnitude << Constants::shift;
  if (magnitude >= infinity) {
    const bool is_nan = !Layout::has_infinity || magnitude > infinity;
    return std::bit_cast<float>(sign | 0x7f800000u | shifted | (is_nan ? 0x00400000u : 0u));
  }
  // The multiplication also normalises subnormal numbers.
  const float value = std::bit_cast<float>(shifted) * Constants::rebias;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
}

template <typename Layout>
constexpr std::uint8_t float8_bits_from_float(float value) {
  using Constants = Float8Constants<Layout>;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 24) & 0x80u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  std::uint32_t result = 0;
  if (magnitude > 0x7f800000u) {
    result = Constants::nan | ((magnitude >> Constants::shift) & Constants::payload);
  } else if (Layout::has_infinity && magnitude == 0x7f800000u) {
    result = Layout::greatest + 1;
  } else if (magnitude < Constants::normal_min) {  // the addition rounds to a subnormal
    const float unit = std::bit_cast<float>(Constants::subnormal_unit);
    const float sum = std::bit_cast<float>(magnitude) + unit;
    result = std::bit_cast<std::uint32_t>(sum) - Constants::subnormal_unit;
  } else {
    const std::uint32_t odd = (magnitude >> Constants::shift) & 1u;
    const std::uint32_t rounded =
        (magnitude - Constants::bias_apart + Constants::below_half + odd) >> Constants::shift;
    result = rounded < Layout::greatest ? rounded : Layout::greatest;
  }
  return static_cast<std::uint8_t>(sign | result);
}

template <typename Layout>
struct float8 {
  std::uint8_t bits = 0;

  constexpr float8() = default;
  constexpr explicit float8(float value) : bits(float8_bits_from_float<Layout>(value)) {}
  constexpr explicit operator float() const { return float_from_float8_bits<Layout>(bits); }
};

using float8_e4m3 = float8<E4m3>;
using float8_e5m2 = float8<E5m2>;

static_assert(sizeof(float8_e4m3) == 1 && sizeof(float8_e5m2) == 1);

}  // namespace tributary::reduce
