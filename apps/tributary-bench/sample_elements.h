// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "sample.h"
#include "sample_types.h"
#include "wire/element.h"
#include "wire/key.h"

// This is what each rank contributes.
namespace tributary::bench {

// Returns the pseudo-random bits of one element of one rank.
inline std::uint64_t bits_of(std::uint32_t rank, std::size_t index) {
  return wire::mix_key(index, (rank + 1) * 0x9e3779b97f4a7c15ULL);
}

// The value with which a rank decides the result alone, false for and, true for or, is drawn by one
// rank in eight. So among some ranks both results are found. For xor half of them are true.
inline std::uint64_t logical_bits(wire::Operator op, std::uint64_t bits) {
  const bool is_rare = bits >> 61 == 0;
  const bool is_true = op == wire::Operator::logical_and  ? !is_rare
                       : op == wire::Operator::logical_or ? is_rare
                                                          : bits >> 63 != 0;
  return is_true ? bits : 0;
}

inline std::uint64_t integer_bits(wire::Operator op, std::uint64_t bits) {
  switch (op) {
    case wire::Operator::prod:
      return bits | 0x11;  // an even factor would soon leave nothing but zeros
    case wire::Operator::bit_and:
      return bits | (bits >> 17) | (bits >> 35);
    case wire::Operator::bit_or:
      return bits & (bits >> 17) & (bits >> 35);
    case wire::Operator::logical_and:
    case wire::Operator::logical_or:
    case wire::Operator::logical_xor:
      return logical_bits(op, bits);
    default:
      return bits;
  }
}

inline float random_fraction(std::uint64_t bits) {
  return static_cast<float>(bits >> 40) * 0x1p-24f;  // [0, 1)
}

// Two or three significant bits round away what one rank adds to many. So of each element only four
// ranks have a part that counts, which is so small that all results are exact.
inline float float8_value(const Problem& of, std::uint32_t rank, std::size_t index,
                          std::uint64_t bits) {
  constexpr std::uint32_t nobody = 0xffffffff;
  const auto first = static_cast<std::uint32_t>(bits_of(nobody, index) % of.world_size);
  const bool counts = (rank + of.world_size - first) % of.world_size < 4;
  const bool is_large = (bits >> 40 & 1) != 0;
  if (of.op == wire::Operator::prod) {
    return !counts ? 1.0f : is_large ? 2.0f : 0.5f;
  }
  if (of.op == wire::Operator::sum) {
    return !counts ? 0.0f : is_large ? 2.0f : 1.0f;
  }
  return random_fraction(bits);
}

template <typename T>
T drawn_element(const Problem& of, std::uint32_t rank, std::size_t index) {
  const std::uint64_t bits = bits_of(rank, index);
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(integer_bits(of.op, bits));
  } else if constexpr (std::is_same_v<T, int4_pair>) {
    int4_pair pair;
    pair.bits = static_cast<std::uint8_t>(integer_bits(of.op, bits));
    return pair;
  } else if constexpr (is_indexed<T>) {
    // There are few values, so that the index often decides.
    const auto value = static_cast<int>(bits >> 60) - 8;
    return {static_cast<decltype(T::value)>(value), static_cast<std::int32_t>(bits)};
  } else {
    const float sign = (bits & 1) != 0 ? -1.0f : 1.0f;
    if constexpr (is_float8<T>) {
      return T(sign * float8_value(of, rank, index, bits));
    }
    const float fraction = random_fraction(bits);
    // Factors around 1 keep a product far from overflow and from the subnormal numbers.
    const float magnitude = of.op == wire::Operator::prod ? 0.75f + 0.58f * fraction : fraction;
    return T(sign * magnitude);
  }
}

// Each rank draws this by itself.
inline bool is_present(const Problem& problem, std::uint32_t rank, std::size_t index) {
  const double drawn = static_cast<double>(bits_of(~rank, index) >> 11) * 0x1p-53;  // [0, 1)
  return drawn < problem.density;
}

template <typename T>
T element(const Problem& problem, std::uint32_t rank, std::size_t index) {
  return is_present(problem, rank, index) ? drawn_element<T>(problem, rank, index) : T{};
}

}  // namespace tributary::bench
