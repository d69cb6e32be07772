// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "sample_types.h"

// References are computed in these formats, and results may be so far from them.
namespace tributary::bench {

// A Format tells in what a reference is computed, and in what its bounds are kept.
template <typename T>
struct Format {  // integers: modulo 2^64 is modulo 2^bits in the low bits
  using Wide = std::int64_t;
  using Bound = T;
};
template <typename Float, int significand_bits>
struct FloatFormat {
  using Wide = std::conditional_t<significand_bits == 53, long double, double>;
  using Bound = Float;
  // Returns the unit roundoff of everything that one step of a reduction may round to: the element,
  // and the f32 in which 16-bit floats are accumulated.
  static double roundoff() {
    const double element = std::ldexp(1.0, -significand_bits);
    return significand_bits < 24 ? element + std::ldexp(1.0, -24) : element;
  }
};
template <>
struct Format<float> : FloatFormat<float, 24> {};
template <>
struct Format<double> : FloatFormat<double, 53> {};
template <>
struct Format<half> : FloatFormat<float, 11> {};
template <>
struct Format<bfloat16> : FloatFormat<float, 8> {};
template <>
struct Format<float8_e4m3> : FloatFormat<float, 4> {};
template <>
struct Format<float8_e5m2> : FloatFormat<float, 3> {};
template <>
struct Format<int4_pair> {
  using Wide = int4_pair;
  using Bound = int4_pair;
};
template <typename Value>
struct Format<indexed<Value>> {
  using Wide = indexed<Value>;
  using Bound = indexed<Value>;
};

// The tolerance is relative to the sum of the magnitudes (sum) or to the result (prod), in any
// order of reduction: a contribution passes through at most n - 1 operations, each of which
// multiplies it by 1 + d with |d| <= u, hence gamma = (n - 1) u / (1 - (n - 1) u). (Higham,
// Accuracy and Stability of Numerical Algorithms, 3.1 and 4.2.) One more step covers the
// reference's own rounding.
template <typename T>
double tolerance(std::uint32_t world_size) {
  const double nu = world_size * Format<T>::roundoff();
  return nu < 0.5 ? nu / (1 - nu) : 1;
}

template <typename T>
auto widen(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::int64_t>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return static_cast<long double>(value);
  } else if constexpr (is_exact_type<T>) {
    return value;
  } else {
    return static_cast<double>(static_cast<float>(value));
  }
}

}  // namespace tributary::bench
