// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tributary::wire {

// An ElementType is what one element of a payload is, and an Operator is how two of them are
// reduced. The numbers go over the wire; elements are little-endian. An i4 is two numbers of four
// bits in a byte, the first in its low half. VALUE_i32 is a pair of a value and an index, as MPI's
// programs have it: a C struct of both, in which an index behind eight bytes has four more behind
// it that mean nothing. An opaqueN is N bytes, of which only a handler knows what they mean.
enum class ElementType : std::uint8_t {
  f32,
  f64,
  f16,
  bf16,
  i8,
  i16,
  i32,
  i64,
  i4,
  f8e4m3,
  f8e5m2,
  f32_i32,
  f64_i32,
  i32_i32,
  i64_i32,
  opaque4,
  opaque8,
  opaque16
};
// The numbers from handler_operator_first on are those of handlers, which people bring
// (docs/reference/handlers.md).
enum class Operator : std::uint8_t {
  sum,
  min,
  max,
  prod,
  bit_and,
  bit_or,
  bit_xor,
  logical_and,
  logical_or,
  logical_xor,
  minloc,
  maxloc
};

inline constexpr std::size_t element_type_count = 18;
// So many types have a built-in operator: all but the opaque ones, which come behind them.
inline constexpr std::size_t built_in_type_count = 15;
inline constexpr std::size_t operator_count = 12;  // built in
inline constexpr std::size_t element_bytes_max = 16;
inline constexpr unsigned handler_operator_first = 64;
inline constexpr unsigned handlers_max = 64;

// It is not local to the function, where g++ copies it to the stack at each use.
inline constexpr std::uint8_t bytes_of_types[element_type_count] = {4, 8, 2, 2,  1, 2,  4, 8, 1,
                                                                    1, 1, 8, 16, 8, 16, 4, 8, 16};

constexpr std::size_t element_bytes(ElementType type) {
  return bytes_of_types[static_cast<std::size_t>(type)];
}

constexpr bool is_integer(ElementType type) {
  return type >= ElementType::i8 && type <= ElementType::i4;
}

// A pair consists of a value and an index.
constexpr bool is_pair(ElementType type) {
  return type >= ElementType::f32_i32 && type <= ElementType::i64_i32;
}

constexpr bool is_opaque(ElementType type) {
  return type >= ElementType::opaque4 && type <= ElementType::opaque16;
}

constexpr bool is_handler(Operator op) {
  return static_cast<unsigned>(op) - handler_operator_first < handlers_max;
}
// Precondition: number < handlers_max.
constexpr Operator handler_operator(unsigned number) {
  return static_cast<Operator>(handler_operator_first + number);
}
// Precondition: is_handler(op).
constexpr unsigned handler_number(Operator op) {
  return static_cast<unsigned>(op) - handler_operator_first;
}

// Bitwise and logical operators exist for integers only; minloc and maxloc are for pairs. Any type
// may have a handler: reduce::find_kernel tells whether there is one for it.
constexpr bool is_valid(ElementType type, Operator op) {
  if (static_cast<std::size_t>(type) >= element_type_count) {
    return false;
  }
  if (is_handler(op)) {
    return true;
  }
  if (static_cast<std::size_t>(op) >= operator_count || is_opaque(type)) {
    return false;
  }
  if (is_pair(type) || op >= Operator::minloc) {
    return is_pair(type) && op >= Operator::minloc;
  }
  return op < Operator::bit_and || is_integer(type);
}

inline constexpr std::string_view element_type_names[element_type_count] = {
    "f32",     "f64",     "f16",     "bf16",    "i8",      "i16",
    "i32",     "i64",     "i4",      "f8e4m3",  "f8e5m2",  "f32_i32",
    "f64_i32", "i32_i32", "i64_i32", "opaque4", "opaque8", "opaque16"};
inline constexpr std::string_view operator_names[operator_count] = {
    "sum", "min", "max", "prod", "and", "or", "xor", "land", "lor", "lxor", "minloc", "maxloc"};

// The names are handler:0 to handler:63. A null is behind each, as behind all names of types and
// operators.
inline constexpr std::string_view handler_prefix = "handler:";
using HandlerName = std::array<char, handler_prefix.size() + 3>;

constexpr std::array<HandlerName, handlers_max> make_handler_names() {
  std::array<HandlerName, handlers_max> names{};
  for (unsigned number = 0; number < handlers_max; ++number) {
    std::size_t at = 0;
    for (const char letter : handler_prefix) {
      names[number][at++] = letter;
    }
    if (number >= 10) {
      names[number][at++] = static_cast<char>('0' + number / 10);
    }
    names[number][at] = static_cast<char>('0' + number % 10);
  }
  return names;
}
inline constexpr std::array<HandlerName, handlers_max> handler_names = make_handler_names();

constexpr std::string_view handler_name(unsigned number) {
  return {handler_names[number].data(), handler_prefix.size() + (number < 10 ? 1 : 2)};
}

// Lists all names for people, with spaces between.
inline std::string listed(std::span<const std::string_view> names) {
  std::string list;
  for (const auto name : names) {
    list += (list.empty() ? "" : " ") + std::string(name);
  }
  return list;
}

// Returns an operator that the type may have, for calls that do not reduce.
constexpr Operator any_operator(ElementType type) {
  if (is_opaque(type)) {
    return handler_operator(0);
  }
  return is_pair(type) ? Operator::minloc : Operator::sum;
}

// Users are told this about a combination that is not valid.
inline constexpr std::string_view valid_combinations =
    "and, or, xor, land, lor and lxor are for integers; minloc and maxloc are for pairs of a value "
    "and an index, which have no other operator but handlers; opaque types have handlers only";

constexpr std::string_view name(ElementType type) {
  return element_type_names[static_cast<std::size_t>(type)];
}
constexpr std::string_view name(Operator op) {
  return is_handler(op) ? handler_name(handler_number(op))
                        : operator_names[static_cast<std::size_t>(op)];
}

constexpr std::optional<ElementType> element_type_of(std::string_view text) {
  for (std::size_t i = 0; i < element_type_count; ++i) {
    if (element_type_names[i] == text) {
      return static_cast<ElementType>(i);
    }
  }
  return std::nullopt;
}

constexpr std::optional<Operator> operator_of(std::string_view text) {
  for (std::size_t i = 0; i < operator_count; ++i) {
    if (operator_names[i] == text) {
      return static_cast<Operator>(i);
    }
  }
  for (unsigned number = 0; number < handlers_max; ++number) {
    if (handler_name(number) == text) {
      return handler_operator(number);
    }
  }
  return std::nullopt;
}

}  // namespace tributary::wire
