// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include "reduce/float16.h"
#include "reduce/float8.h"
#include "reduce/indexed.h"
#include "reduce/int4.h"
#include "wire/element.h"

// Elements have these C++ types.
namespace tributary::reduce {

template <typename T>
inline constexpr bool is_float8 = std::is_same_v<T, float8_e4m3> || std::is_same_v<T, float8_e5m2>;
template <typename T>
inline constexpr bool is_indexed = false;
template <typename Value>
inline constexpr bool is_indexed<indexed<Value>> = true;
// Nothing is rounded with these types, whatever the operator.
template <typename T>
inline constexpr bool is_exact_type =
    std::is_integral_v<T> || std::is_same_v<T, int4_pair> || is_indexed<T>;

// Returns the wire's name of a C++ element type.
template <typename T>
constexpr wire::ElementType element_type_for() {
  using wire::ElementType;
  constexpr bool is_plain_integer = std::is_integral_v<T> && std::is_signed_v<T>;
  if constexpr (std::is_same_v<T, float>) {
    return ElementType::f32;
  } else if constexpr (std::is_same_v<T, double>) {
    return ElementType::f64;
  } else if constexpr (std::is_same_v<T, half>) {
    return ElementType::f16;
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    return ElementType::bf16;
  } else if constexpr (std::is_same_v<T, float8_e4m3>) {
    return ElementType::f8e4m3;
  } else if constexpr (std::is_same_v<T, float8_e5m2>) {
    return ElementType::f8e5m2;
  } else if constexpr (std::is_same_v<T, int4_pair>) {
    return ElementType::i4;
  } else if constexpr (std::is_same_v<T, indexed<float>>) {
    return ElementType::f32_i32;
  } else if constexpr (std::is_same_v<T, indexed<double>>) {
    return ElementType::f64_i32;
  } else if constexpr (std::is_same_v<T, indexed<std::int32_t>>) {
    return ElementType::i32_i32;
  } else if constexpr (std::is_same_v<T, indexed<std::int64_t>>) {
    return ElementType::i64_i32;
  } else if constexpr (is_plain_integer && sizeof(T) == 1) {
    return ElementType::i8;
  } else if constexpr (is_plain_integer && sizeof(T) == 2) {
    return ElementType::i16;
  } else if constexpr (is_plain_integer && sizeof(T) == 4) {
    return ElementType::i32;
  } else {
    static_assert(is_plain_integer && sizeof(T) == 8, "not an element type of Tributary");
    return ElementType::i64;
  }
}

// This is a list of some of these types.
template <typename... Types>
struct ElementTypes {};
using FloatTypes = ElementTypes<float, double, half, bfloat16, float8_e4m3, float8_e5m2>;
// A sparse allreduce takes these types.
using SparseTypes = ElementTypes<float, double, half, bfloat16, std::int8_t, std::int16_t,
                                 std::int32_t, std::int64_t>;
// These are all types but the opaque ones.
using AllTypes =
    ElementTypes<float, double, half, bfloat16, std::int8_t, std::int16_t, std::int32_t,
                 std::int64_t, int4_pair, float8_e4m3, float8_e5m2, indexed<float>, indexed<double>,
                 indexed<std::int32_t>, indexed<std::int64_t>>;

// Calls f with a value of the type, among these types, that `type` names; of the last one where it
// is none of the others.
template <typename First, typename... Rest, typename F>
auto with_type(ElementTypes<First, Rest...> /*types*/, [[maybe_unused]] wire::ElementType type,
               F f) {
  if constexpr (sizeof...(Rest) > 0) {
    if (type != element_type_for<First>()) {
      return with_type(ElementTypes<Rest...>{}, type, f);
    }
  }
  return f(First{});
}

template <typename F>
auto with_sparse_type(wire::ElementType type, F f) {
  return with_type(SparseTypes{}, type, f);
}

}  // namespace tributary::reduce
