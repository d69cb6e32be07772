// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "reduce/combine.h"
#include "reduce/float16.h"
#include "wire/element.h"

namespace tributary::reduce::test {

// A plain reduction of two elements in wider precision.

template <class T>
inline constexpr bool is_16_bit_float = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

template <class T>
inline constexpr bool is_float = std::is_floating_point_v<T> || is_16_bit_float<T>;

// 128 bits hold every sum and product of two floats of moderate exponents exactly, so that the
// reference rounds once; 64 bits those of integers, modulo 2^64.
__extension__ typedef __float128 WideFloat;
template <class T>
using Wide = std::conditional_t<is_float<T>, WideFloat, std::int64_t>;

template <class T>
Wide<T> widen(T value) {
  if constexpr (is_16_bit_float<T>) {
    return static_cast<WideFloat>(static_cast<float>(value));
  } else {
    return static_cast<Wide<T>>(value);
  }
}

// Rounds to the accumulator: the 16-bit floats have an f32, integers wrap.
template <class T>
auto round_to_accumulator(Wide<T> value) {
  if constexpr (is_16_bit_float<T>) {
    return static_cast<float>(value);
  } else {
    return static_cast<T>(value);
  }
}

template <class T>
struct TypeOf;
#define TRIBUTARY_TYPE_OF(cpp, wire_name)                                    \
  template <>                                                                \
  struct TypeOf<cpp> {                                                       \
    static constexpr wire::ElementType value = wire::ElementType::wire_name; \
  }
TRIBUTARY_TYPE_OF(float, f32);
TRIBUTARY_TYPE_OF(double, f64);
TRIBUTARY_TYPE_OF(half, f16);
TRIBUTARY_TYPE_OF(bfloat16, bf16);
TRIBUTARY_TYPE_OF(std::int8_t, i8);
TRIBUTARY_TYPE_OF(std::int16_t, i16);
TRIBUTARY_TYPE_OF(std::int32_t, i32);
TRIBUTARY_TYPE_OF(std::int64_t, i64);
#undef TRIBUTARY_TYPE_OF

}  // namespace tributary::reduce::test
