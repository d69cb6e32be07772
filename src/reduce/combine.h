// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include "wire/element.h"

namespace tributary::reduce {

// What an operator makes of two numbers, by the book: to compare with what the kernels make of
// many. Integers wrap; and, or and xor are for them only.
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
      default:
        return static_cast<T>(x ^ y);
    }
  } else {
    return op == Operator::sum ? a + b : a * b;
  }
}

}  // namespace tributary::reduce
