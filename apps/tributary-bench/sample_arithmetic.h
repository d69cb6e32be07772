// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "sample_types.h"
#include "wire/element.h"

// In what a reference is computed, and how far a result may be from it.
namespace tributary::bench {

// What a reference is computed in, and what its bounds are kept in.
template <typename T>
struct Format {  // integers: modulo 2^64 is modulo 2^bits in the low bits
  using Wide = std::uint64_t;
  using Bound = T;
};
template <typename Float, int significand_bits>
struct FloatFormat {
  using Wide = std::conditional_t<significand_bits == 53, long double, double>;
  using Bound = Float;
  // Unit roundoff of everything that one step of a reduction may round to: the element, and the
  // f32 in which 16-bit floats are accumulated.
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

// Relative to the sum of the magnitudes (sum) or to the result (prod), in any order of reduction: a
// contribution passes through at most n - 1 operations, each of which multiplies it by 1 + d with
// |d| <= u, hence gamma = (n - 1) u / (1 - (n - 1) u). (Higham, Accuracy and Stability of Numerical
// Algorithms, 3.1 and 4.2.) One more step covers the reference's own rounding.
template <typename T>
double tolerance(std::uint32_t world_size) {
  const double nu = world_size * Format<T>::roundoff();
  return nu < 0.5 ? nu / (1 - nu) : 1;
}

template <typename T>
auto widen(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  } else if constexpr (std::is_same_v<T, double>) {
    return static_cast<long double>(value);
  } else if constexpr (is_exact_type<T>) {
    return value;
  } else {
    return static_cast<double>(static_cast<float>(value));
  }
}

template <typename Wide>
Wide combine(wire::Operator op, Wide a, Wide b) {
  if constexpr (std::is_integral_v<Wide>) {
    const auto signed_less = [](Wide x, Wide y) {
      return static_cast<std::int64_t>(x) < static_cast<std::int64_t>(y);
    };
    switch (op) {
      case wire::Operator::sum:
        return a + b;
      case wire::Operator::prod:
        return a * b;
      case wire::Operator::min:
        return signed_less(b, a) ? b : a;
      case wire::Operator::max:
        return signed_less(a, b) ? b : a;
      case wire::Operator::bit_and:
        return a & b;
      case wire::Operator::bit_or:
        return a | b;
      case wire::Operator::bit_xor:
        return a ^ b;
      case wire::Operator::logical_and:
        return a != 0 && b != 0;
      case wire::Operator::logical_or:
        return a != 0 || b != 0;
      case wire::Operator::logical_xor:
        return (a != 0) != (b != 0);
      default:
        break;
    }
  } else {
    switch (op) {
      case wire::Operator::sum:
        return a + b;
      case wire::Operator::prod:
        return a * b;
      case wire::Operator::min:
        return std::min(a, b);
      case wire::Operator::max:
        return std::max(a, b);
      default:
        break;
    }
  }
  return a;
}

inline int4_pair combine(wire::Operator op, int4_pair a, int4_pair b) {
  const auto half = [op](int x, int y) {
    return static_cast<int>(combine(op, widen(x), widen(y)) & 0x0f);
  };
  return {half(a.first(), b.first()), half(a.second(), b.second())};
}

template <typename Value>
indexed<Value> combine(wire::Operator op, indexed<Value> a, indexed<Value> b) {
  const Value sign = op == wire::Operator::maxloc ? Value{-1} : Value{1};
  return std::pair(sign * b.value, b.index) < std::pair(sign * a.value, a.index) ? b : a;
}

}  // namespace tributary::bench
