// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>

namespace tributary::reduce {

// These convert between f32 and the two 16-bit formats, on bits. Rounding is to nearest, ties to
// even; subnormals are exact; a NaN stays a (quiet) NaN and keeps the upper bits of its payload, as
// the conversion instructions of x86 and Arm do, so that scalar and SIMD code agree bit for bit.

constexpr float float_from_half_bits(std::uint16_t half_bits) {
  constexpr std::uint32_t infinity = 0x7c00u << 13;
  const std::uint32_t magnitude = (half_bits & 0x7fffu) << 13;
  const std::uint32_t sign = (half_bits & 0x8000u) << 16;
  if (magnitude >= infinity) {
    const std::uint32_t quiet = magnitude > infinity ? 0x00400000u : 0u;
    return std::bit_cast<float>(sign | 0x7f800000u | magnitude | quiet);
  }
  // Exponent bias 15 becomes 127; the multiplication also normalises subnormals.
  constexpr float rebias = 0x1p112f;
  const float value = std::bit_cast<float>(magnitude) * rebias;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
}

constexpr std::uint16_t half_bits_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  std::uint32_t result = 0;
  if (magnitude > 0x7f800000u) {
    result = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  } else if (magnitude >= 0x47800000u) {  // 65536 and more
    result = 0x7c00u;
  } else if (magnitude < 0x38800000u) {  // below 2^-14: the addition rounds to a subnormal
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    result = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5f);
  } else {
    const std::uint32_t odd = (magnitude >> 13) & 1u;
    result = (magnitude - (112u << 23) + 0xfffu + odd) >> 13;
  }
  return static_cast<std::uint16_t>(sign | result);
}

constexpr float float_from_bfloat16_bits(std::uint16_t bfloat16_bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bfloat16_bits) << 16);
}

constexpr std::uint16_t bfloat16_bits_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  }
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// A half is IEEE 754's binary16.
struct half {
  std::uint16_t bits = 0;

  constexpr half() = default;
  constexpr explicit half(float value) : bits(half_bits_from_float(value)) {}
  constexpr explicit operator float() const { return float_from_half_bits(bits); }
};

// A bfloat16 is the upper half of an f32.
struct bfloat16 {
  std::uint16_t bits = 0;

  constexpr bfloat16() = default;
  constexpr explicit bfloat16(float value) : bits(bfloat16_bits_from_float(value)) {}
  constexpr explicit operator float() const { return float_from_bfloat16_bits(bits); }
};

static_assert(sizeof(half) == 2 && sizeof(bfloat16) == 2);

}  // namespace tributary::reduce
