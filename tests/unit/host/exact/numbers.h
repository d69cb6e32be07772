// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "host/element_types.h"
#include "unit/host/values.h"

// Numbers of every float type, and properties of the formats by their standards.
namespace tributary::host::exact::test {

inline constexpr std::array float_types = {wire::ElementType::f32,    wire::ElementType::f64,
                                           wire::ElementType::f16,    wire::ElementType::bf16,
                                           wire::ElementType::f8e4m3, wire::ElementType::f8e5m2};

template <typename T>
T number(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    return T(static_cast<float>(value));
  }
}

// Bits of the significand, and the exponent of the least number above 0.
struct Precision {
  int significand = 0;
  int least = 0;
};
constexpr Precision precision_of(wire::ElementType type) {
  switch (type) {
    case wire::ElementType::f64:
      return {53, -1074};
    case wire::ElementType::f16:
      return {11, -24};
    case wire::ElementType::bf16:
      return {8, -133};
    case wire::ElementType::f8e4m3:
      return {4, -9};
    case wire::ElementType::f8e5m2:
      return {3, -16};
    default:
      return {24, -149};
  }
}

// The distance of numbers of the format around `value`.
inline long double spacing(long double value, wire::ElementType type) {
  const auto [significand, least] = precision_of(type);
  const int exponent = value == 0 ? least : std::ilogb(value) - significand + 1;
  return std::ldexp(1.0L, std::max(exponent, least));
}

// Draws numbers of a few octaves, with as many bits as the type has.
template <typename T>
std::vector<T> drawn(std::size_t count, std::mt19937_64& random, int octaves = 8) {
  std::uniform_real_distribution<double> mantissa(0.5, 1);
  std::uniform_int_distribution<int> exponent(-octaves, 0);
  std::vector<T> values(count);
  for (auto& value : values) {
    const double sign = random() % 2 == 0 ? 1 : -1;
    value = number<T>(sign * std::ldexp(mantissa(random), exponent(random)));
  }
  return values;
}

}  // namespace tributary::host::exact::test
