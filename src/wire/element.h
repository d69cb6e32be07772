// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tributary::wire {

// What one element of a payload is, and how two of them are reduced. The numbers go over the wire;
// elements are little-endian. An i4 is two numbers of four bits in a byte, the first in its low
// half. VALUE_i32 is a pair of a value and an index, as MPI's programs have it: a C struct of both,
// in which an index behind eight bytes has four more behind it that mean nothing.
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
  i64_i32
};
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

inline constexpr std::size_t element_type_count = 15;
inline constexpr std::size_t operator_count = 12;
inline constexpr std::size_t element_bytes_max = 16;

constexpr std::size_t element_bytes(ElementType type) {
  constexpr std::uint8_t bytes[element_type_count] = {4, 8, 2, 2, 1,  2, 4, 8,
                                                      1, 1, 1, 8, 16, 8, 16};
  return bytes[static_cast<std::size_t>(type)];
}

constexpr bool is_integer(ElementType type) {
  return type >= ElementType::i8 && type <= ElementType::i4;
}

// Of a value and an index.
constexpr bool is_pair(ElementType type) {
  return type >= ElementType::f32_i32;
}

// Bitwise and logical operators exist for integers only; minloc and maxloc are what pairs have.
constexpr bool is_valid(ElementType type, Operator op) {
  if (static_cast<std::size_t>(type) >= element_type_count ||
      static_cast<std::size_t>(op) >= operator_count) {
    return false;
  }
  if (is_pair(type) || op >= Operator::minloc) {
    return is_pair(type) && op >= Operator::minloc;
  }
  return op < Operator::bit_and || is_integer(type);
}

inline constexpr std::string_view element_type_names[element_type_count] = {
    "f32", "f64",    "f16",    "bf16",    "i8",      "i16",     "i32",    "i64",
    "i4",  "f8e4m3", "f8e5m2", "f32_i32", "f64_i32", "i32_i32", "i64_i32"};
inline constexpr std::string_view operator_names[operator_count] = {
    "sum", "min", "max", "prod", "and", "or", "xor", "land", "lor", "lxor", "minloc", "maxloc"};

// For people: all of them, with spaces between.
inline std::string listed(std::span<const std::string_view> names) {
  std::string list;
  for (const auto name : names) {
    list += (list.empty() ? "" : " ") + std::string(name);
  }
  return list;
}

// One that the type has, for calls that do not reduce.
constexpr Operator any_operator(ElementType type) {
  return is_pair(type) ? Operator::minloc : Operator::sum;
}

// What to tell about a combination that is none.
inline constexpr std::string_view valid_combinations =
    "and, or, xor, land, lor and lxor are for integers; minloc and maxloc are for pairs of a value "
    "and an index, which have no other operator";

constexpr std::string_view name(ElementType type) {
  return element_type_names[static_cast<std::size_t>(type)];
}
constexpr std::string_view name(Operator op) {
  return operator_names[static_cast<std::size_t>(op)];
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
  return std::nullopt;
}

}  // namespace tributary::wire
