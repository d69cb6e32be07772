// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include "reduce/indexed.h"
#include "reduce/int4.h"
#include "wire/element.h"

namespace tributary::reduce {

// Returns what an operator makes of two numbers, by the book, to compare with what the kernels make
// of many. Integers wrap; bitwise and logical operators are for them only.
template <typename T>
constexpr T combine(wire::Operator op, T a, T b) {
  using wire::Operator;
  if (op == Operator::min) {
    return b < a ? b : a;
  }
  if (op == Operator::max) {
    return a < b ? b : a;
  }
  if constexpr (std::is_integral_v<T>) {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    switch (op) {
      case Operator::sum:
        return static_cast<T>(x + y);
      case Operator::prod:
        return static_cast<T>(x * y);
      case Operator::bit_and:
        return static_cast<T>(x & y);
      case Operator::bit_or:
        return static_cast<T>(x | y);
      case Operator::bit_xor:
        return static_cast<T>(x ^ y);
      case Operator::logical_and:
        return static_cast<T>(x != 0 && y != 0 ? 1 : 0);
      case Operator::logical_or:
        return static_cast<T>(x != 0 || y != 0 ? 1 : 0);
      default:
        return static_cast<T>((x != 0) != (y != 0) ? 1 : 0);
    }
  } else {
    return op == Operator::sum ? a + b : a * b;
  }
}

// Both numbers of the byte are combined, each by itself.
constexpr int4_pair combine(wire::Operator op, int4_pair a, int4_pair b) {
  return {combine(op, a.first(), b.first()), combine(op, a.second(), b.second())};
}

// Pairs have minloc and maxloc only.
template <typename Value>
constexpr indexed<Value> combine(wire::Operator op, indexed<Value> a, indexed<Value> b) {
  const bool takes_b =
      op == wire::Operator::maxloc ? goes_before<true>(b, a) : goes_before<false>(b, a);
  return takes_b ? b : a;
}

}  // namespace tributary::reduce
