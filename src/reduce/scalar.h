// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include "reduce/float16.h"

namespace tributary::reduce {

template <typename T>
inline constexpr bool is_float16 = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

// Adds one element at a time, where they do not lie side by side, as the kernels do. Integers wrap;
// 16-bit floats are added in f32 and rounded.
template <typename T>
constexpr T plus(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  } else if constexpr (is_float16<T>) {
    return T(static_cast<float>(a) + static_cast<float>(b));
  } else {
    return a + b;
  }
}

// A float that is zero may have either sign.
template <typename T>
constexpr bool is_zero(T value) {
  if constexpr (is_float16<T>) {
    return static_cast<float>(value) == 0.0f;
  } else {
    return value == T{};
  }
}

}  // namespace tributary::reduce
