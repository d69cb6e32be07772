// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tributary::wire {

// What one element of a payload is, and how two of them are reduced. The numbers go over the wire;
// elements are little-endian.
enum class ElementType : std::uint8_t { f32, f64, f16, bf16, i8, i16, i32, i64 };
enum class Operator : std::uint8_t { sum, min, max, prod, bit_and, bit_or, bit_xor };

inline constexpr std::size_t element_type_count = 8;
inline constexpr std::size_t operator_count = 7;

constexpr std::size_t element_bytes(ElementType type) {
  constexpr std::uint8_t bytes[element_type_count] = {4, 8, 2, 2, 1, 2, 4, 8};
  return bytes[static_cast<std::size_t>(type)];
}

constexpr bool is_integer(ElementType type) {
  return type >= ElementType::i8;
}

// and, or and xor exist for integers only.
constexpr bool is_valid(ElementType type, Operator op) {
  return static_cast<std::size_t>(type) < element_type_count &&
         static_cast<std::size_t>(op) < operator_count &&
         (op < Operator::bit_and || is_integer(type));
}

inline constexpr std::string_view element_type_names[element_type_count] = {
    "f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64"};
inline constexpr std::string_view operator_names[operator_count] = {"sum", "min", "max", "prod",
                                                                    "and", "or",  "xor"};

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
