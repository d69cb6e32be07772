// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "reduce/element_types.h"
#include "wire/element.h"

// This is what an expression (docs/reference/handlers.md) makes of two elements: read and computed
// at once, element by element, without any of the code under test.
namespace tributary::test {

__extension__ typedef __int128 WideInteger;

template <typename T>
inline constexpr bool is_whole = std::is_integral_v<T>;

// A type is computed in these lanes.
template <typename T>
using LaneOf = std::conditional_t<
    std::is_same_v<T, double>, double,
    std::conditional_t<!is_whole<T>, float,
                       std::conditional_t<sizeof(T) <= 2, std::int32_t, std::int64_t>>>;

// 128 bits hold whatever two numbers of 64 make.
inline WideInteger applied_to_integers(std::string_view what, WideInteger a, WideInteger b,
                                       std::size_t bits) {
  const auto power = WideInteger{1} << static_cast<unsigned>(static_cast<std::uint64_t>(b) %
                                                             static_cast<std::uint64_t>(bits));
  switch (what[0]) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return b == 0 ? 0 : a / b;
    case '%':
      return b == 0 ? 0 : a % b;
    case '&':
      return a & b;
    case '|':
      return a | b;
    case '^':
      return a ^ b;
    case '<':
      return a * power;
    default:  // rounded down
      return (a - (a % power + power) % power) / power;
  }
}

template <typename L>
L applied_to_floats(std::string_view what, L a, L b) {
  switch (what[0]) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    default:
      return a / b;
  }
}

template <typename L>
L applied(std::string_view what, L a, L b) {
  if (what == "<") {
    return a < b;
  }
  if (what == "<=") {
    return a <= b;
  }
  if (what == ">") {
    return a > b;
  }
  if (what == ">=") {
    return a >= b;
  }
  if (what == "==") {
    return a == b;
  }
  if (what == "!=") {
    return a != b;
  }
  if (what == "&&") {
    return a != 0 && b != 0;
  }
  if (what == "||") {
    return a != 0 || b != 0;
  }
  if constexpr (is_whole<L>) {
    return static_cast<L>(applied_to_integers(what, WideInteger{a}, WideInteger{b}, 8 * sizeof(L)));
  } else {
    return applied_to_floats(what, a, b);
  }
}

template <typename L>
bool is_no_number(L value) {
  if constexpr (is_whole<L>) {
    return false;
  } else {
    return std::isnan(value);
  }
}

template <typename L>
L lesser(L a, L b) {
  return is_no_number(a) ? a : is_no_number(b) ? b : a < b ? a : b;
}
template <typename L>
L greater(L a, L b) {
  return is_no_number(a) ? a : is_no_number(b) ? b : b < a ? a : b;
}

// Precondition: the text is right.
template <typename L>
class ExpressionReference {
 public:
  ExpressionReference(std::string_view text, L acc, L in) : rest_(text) {
    values_["acc"] = acc;
    values_["in"] = in;
  }

  L result() {
    for (;;) {
      const auto name = take_word();
      take();  // =
      values_[name] = conditional();
      if (name == "acc") {
        return values_[name];
      }
      take();  // ;
    }
  }

 private:
  std::string_view peek() {
    const auto begin = std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size());
    rest_.remove_prefix(begin);
    for (const std::string_view two : {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"}) {
      if (rest_.substr(0, 2) == two) {
        return two;
      }
    }
    return rest_.substr(0, 1);
  }
  std::string_view take() {
    const auto symbol = peek();
    rest_.remove_prefix(symbol.size());
    return symbol;
  }
  bool take(std::string_view symbol) {
    const bool is_there = peek() == symbol;
    rest_.remove_prefix(is_there ? symbol.size() : 0);
    return is_there;
  }
  std::string take_word() {
    peek();
    constexpr auto letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const auto length = std::min(rest_.find_first_not_of(letters), rest_.size());
    const std::string word(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return word;
  }

  L conditional() {
    const L condition = level(0);
    if (!take("?")) {
      return condition;
    }
    const L yes = conditional();
    take(":");
    const L no = conditional();
    return condition != 0 ? yes : no;
  }

  // Levels go from what is done last to what is done first.
  L level(std::size_t number) {
    static const std::vector<std::vector<std::string_view>> levels = {{"||"},
                                                                      {"&&"},
                                                                      {"|"},
                                                                      {"^"},
                                                                      {"&"},
                                                                      {"==", "!="},
                                                                      {"<", "<=", ">", ">="},
                                                                      {"<<", ">>"},
                                                                      {"+", "-"},
                                                                      {"*", "/", "%"}};
    if (number == levels.size()) {
      return prefixed();
    }
    L left = level(number + 1);
    for (;;) {
      const auto symbol = peek();
      const auto& known = levels[number];
      if (std::find(known.begin(), known.end(), symbol) == known.end()) {
        return left;
      }
      take();
      left = applied(symbol, left, level(number + 1));
    }
  }

  L prefixed() {
    if (take("-")) {
      return negated(prefixed());
    }
    if (take("!")) {
      return prefixed() == 0;
    }
    if (take("~")) {
      return static_cast<L>(-1 - static_cast<WideInteger>(prefixed()));
    }
    if (take("(")) {
      const L value = conditional();
      take(")");
      return value;
    }
    const auto symbol = peek();
    return symbol == "." || (symbol[0] >= '0' && symbol[0] <= '9') ? number() : named();
  }

  static L negated(L value) {
    if constexpr (is_whole<L>) {
      return static_cast<L>(-WideInteger{value});
    } else {
      return -value;
    }
  }

  L number() {
    const std::string text(rest_);
    char* end = nullptr;
    L value{};
    if constexpr (is_whole<L>) {
      const bool is_hexadecimal = text.size() > 1 && (text[1] == 'x' || text[1] == 'X');
      value = static_cast<L>(std::strtoull(text.c_str(), &end, is_hexadecimal ? 16 : 10));
    } else if constexpr (std::is_same_v<L, float>) {
      value = std::strtof(text.c_str(), &end);
    } else {
      value = std::strtod(text.c_str(), &end);
    }
    rest_.remove_prefix(static_cast<std::size_t>(end - text.c_str()));
    return value;
  }

  L named() {
    const auto name = take_word();
    if (!take("(")) {
      return values_.at(name);
    }
    std::vector<L> operands;
    do {
      operands.push_back(conditional());
    } while (take(","));
    take(")");
    return called(name, operands);
  }

  static L called(const std::string& name, const std::vector<L>& operands) {
    if (name == "min") {
      return lesser(operands[0], operands[1]);
    }
    if (name == "max") {
      return greater(operands[0], operands[1]);
    }
    if (name == "clamp") {
      return lesser(greater(operands[0], operands[1]), operands[2]);
    }
    if constexpr (is_whole<L>) {
      return operands[0] < 0 ? negated(operands[0]) : operands[0];
    } else {
      return name == "sqrt" ? std::sqrt(operands[0]) : std::fabs(operands[0]);
    }
  }

  std::string_view rest_;
  std::map<std::string, L> values_;
};

// Returns an element, from what it is computed in.
template <typename T>
T cut(LaneOf<T> value) {
  return static_cast<T>(value);
}

template <typename T>
T expected(std::string_view text, T acc, T in) {
  using L = LaneOf<T>;
  return cut<T>(ExpressionReference<L>(text, static_cast<L>(acc), static_cast<L>(in)).result());
}

// Returns whether both have the same bits, or are NaNs.
template <typename T>
bool is_same(T a, T b) {
  if (std::memcmp(&a, &b, sizeof a) == 0) {
    return true;
  }
  return is_no_number(static_cast<LaneOf<T>>(a)) && is_no_number(static_cast<LaneOf<T>>(b));
}

// Calls f with a value of the C++ type, which is one of those that have expressions.
template <typename F>
void with_expression_type(wire::ElementType type, F f) {
  using reduce::ElementTypes;
  using Types =
      ElementTypes<float, double, reduce::half, reduce::bfloat16, reduce::float8_e4m3,
                   reduce::float8_e5m2, std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
  reduce::with_type(Types{}, type, f);
}

inline constexpr wire::ElementType expression_types[] = {
    wire::ElementType::f32,  wire::ElementType::f64,    wire::ElementType::f16,
    wire::ElementType::bf16, wire::ElementType::f8e4m3, wire::ElementType::f8e5m2,
    wire::ElementType::i8,   wire::ElementType::i16,    wire::ElementType::i32,
    wire::ElementType::i64};

}  // namespace tributary::test
