// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "reduce/handlers/expression/program.h"
#include "wire/element.h"

namespace tributary::reduce {

constexpr bool is_float(Lanes lanes) {
  return lanes == Lanes::f32 || lanes == Lanes::f64;
}

// Returns no value for types that have no expressions: pairs, opaque elements, and two numbers in a
// byte.
constexpr std::optional<Lanes> lanes_of(wire::ElementType type) {
  using wire::ElementType;
  switch (type) {
    case ElementType::i8:
    case ElementType::i16:
      return Lanes::i32;
    case ElementType::i32:
    case ElementType::i64:
      return Lanes::i64;
    case ElementType::f32:
    case ElementType::f16:
    case ElementType::bf16:
    case ElementType::f8e4m3:
    case ElementType::f8e5m2:
      return Lanes::f32;
    case ElementType::f64:
      return Lanes::f64;
    default:
      return std::nullopt;
  }
}

constexpr bool lanes_have(Lanes lanes, Operation operation) {
  switch (operation) {
    case Operation::remainder:
    case Operation::bit_and:
    case Operation::bit_or:
    case Operation::bit_xor:
    case Operation::shift_left:
    case Operation::shift_right:
      return !is_float(lanes);
    case Operation::square_root:
      return is_float(lanes);
    default:
      return true;
  }
}

// No CPU divides vectors of integers. Floats that are subnormal are counted in.
inline constexpr std::size_t integer_division_weight = 64;
inline constexpr std::size_t float_division_weight = 8;

// Returns as how many additions an operation counts, by the time that it takes on CPUs with wide
// vectors (docs/design/0080). What takes up to three times as long as an addition counts as one, as
// there are never many of them.
constexpr std::size_t weight(Lanes lanes, Operation operation) {
  switch (operation) {
    case Operation::divide:
    case Operation::remainder:
      return is_float(lanes) ? float_division_weight : integer_division_weight;
    case Operation::square_root:
      return float_division_weight;
    default:
      return 1;
  }
}

// An Infix is how an operation is written between two operands: the greater the rank, the earlier
// it is done. "Greater" is "less" with its operands turned round.
struct Infix {
  std::string_view symbol;
  unsigned rank = 0;
  Operation operation = Operation::add;
  bool turned = false;
};

inline constexpr Infix infixes[] = {
    {"||", 1, Operation::either, false},      {"&&", 2, Operation::both, false},
    {"|", 3, Operation::bit_or, false},       {"^", 4, Operation::bit_xor, false},
    {"&", 5, Operation::bit_and, false},      {"==", 6, Operation::equal, false},
    {"!=", 6, Operation::not_equal, false},   {"<", 7, Operation::less, false},
    {"<=", 7, Operation::less_equal, false},  {">", 7, Operation::less, true},
    {">=", 7, Operation::less_equal, true},   {"<<", 8, Operation::shift_left, false},
    {">>", 8, Operation::shift_right, false}, {"+", 9, Operation::add, false},
    {"-", 9, Operation::subtract, false},     {"*", 10, Operation::multiply, false},
    {"/", 10, Operation::divide, false},      {"%", 10, Operation::remainder, false}};

constexpr const Infix* infix_of(std::string_view symbol) {
  for (const auto& infix : infixes) {
    if (infix.symbol == symbol) {
      return &infix;
    }
  }
  return nullptr;
}

// clamp(x, low, high) becomes a minimum of a maximum.
struct Function {
  std::string_view name;
  std::size_t operands = 0;
  Operation operation = Operation::add;
};

inline constexpr std::string_view clamp_name = "clamp";
inline constexpr Function functions[] = {{"min", 2, Operation::minimum},
                                         {"max", 2, Operation::maximum},
                                         {"abs", 1, Operation::absolute},
                                         {"sqrt", 1, Operation::square_root},
                                         {clamp_name, 3, Operation::minimum}};

constexpr const Function* function_of(std::string_view name) {
  for (const auto& function : functions) {
    if (function.name == name) {
      return &function;
    }
  }
  return nullptr;
}

}  // namespace tributary::reduce
