// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "reduce/float16.h"
#include "reduce/float8.h"
#include "reduce/indexed.h"
#include "reduce/int4.h"

// The types of elements, and what tells them apart.
namespace tributary::bench {

using reduce::bfloat16;
using reduce::float8_e4m3;
using reduce::float8_e5m2;
using reduce::half;
using reduce::indexed;
using reduce::int4_pair;

template <typename T>
inline constexpr bool is_float8 = std::is_same_v<T, float8_e4m3> || std::is_same_v<T, float8_e5m2>;
template <typename T>
inline constexpr bool is_indexed = false;
template <typename Value>
inline constexpr bool is_indexed<indexed<Value>> = true;
// Nothing is rounded, whatever the operator.
template <typename T>
inline constexpr bool is_exact_type =
    std::is_integral_v<T> || std::is_same_v<T, int4_pair> || is_indexed<T>;

}  // namespace tributary::bench
