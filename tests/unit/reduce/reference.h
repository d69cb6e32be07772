// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "reduce/combine.h"
#include "reduce/element_types.h"
#include "wire/element.h"

namespace tributary::reduce::reference {

// A plain reduction of two elements in wider precision.

// The types that are accumulated as an f32.
template <class T>
inline constexpr bool is_narrow_float =
    std::is_same_v<T, half> || std::is_same_v<T, bfloat16> || is_float8<T>;

template <class T>
inline constexpr bool is_float = std::is_floating_point_v<T> || is_narrow_float<T>;

// 128 bits hold every sum and product of two floats of moderate exponents exactly, so that the
// reference rounds once; 64 bits hold those of integers, modulo 2^64. Elements of more than one
// number stay as they are.
__extension__ typedef __float128 WideFloat;
template <class T>
using Wide = std::conditional_t<is_float<T>, WideFloat,
                                std::conditional_t<std::is_integral_v<T>, std::int64_t, T>>;

template <class T>
Wide<T> widen(T value) {
  if constexpr (is_narrow_float<T>) {
    return static_cast<WideFloat>(static_cast<float>(value));
  } else {
    return static_cast<Wide<T>>(value);
  }
}

// Rounds to the accumulator: the narrow floats have an f32, integers wrap.
template <class T>
auto round_to_accumulator(Wide<T> value) {
  if constexpr (is_narrow_float<T>) {
    return static_cast<float>(value);
  } else {
    return static_cast<T>(value);
  }
}

// Returns the best value, and of equal ones the one with the lower index.
template <class Value>
indexed<Value> reduced(wire::Operator op, indexed<Value> a, indexed<Value> b) {
  const bool b_is_less = b.value < a.value;
  const bool b_is_greater = a.value < b.value;
  if (!b_is_less && !b_is_greater) {
    return a.index <= b.index ? a : b;
  }
  return b_is_less == (op == wire::Operator::minloc) ? b : a;
}
template <class Number>
Number reduced(wire::Operator op, Number a, Number b) {
  return combine(op, a, b);
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
TRIBUTARY_TYPE_OF(int4_pair, i4);
TRIBUTARY_TYPE_OF(float8_e4m3, f8e4m3);
TRIBUTARY_TYPE_OF(float8_e5m2, f8e5m2);
TRIBUTARY_TYPE_OF(indexed<float>, f32_i32);
TRIBUTARY_TYPE_OF(indexed<double>, f64_i32);
TRIBUTARY_TYPE_OF(indexed<std::int32_t>, i32_i32);
TRIBUTARY_TYPE_OF(indexed<std::int64_t>, i64_i32);
#undef TRIBUTARY_TYPE_OF

}  // namespace tributary::reduce::reference
