// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/handlers/expression/literal.h"

#include <bit>
#include <charconv>
#include <limits>
#include <system_error>

#include "reduce/handlers/expression/operations.h"

namespace tributary::reduce {
namespace {

// Returns no value unless all of the text is a number.
template <typename T, typename... How>
std::optional<T> number_of(std::string_view text, How... how) {
  T value{};
  const auto* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value, how...);
  return error == std::errc() && stopped == end ? std::optional(value) : std::nullopt;
}

std::uint64_t bits_of_integer(std::uint64_t value, Lanes lanes) {
  return lanes == Lanes::i32 ? static_cast<std::uint32_t>(value) : value;
}

std::uint64_t bits_of_lane(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
std::uint64_t bits_of_lane(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

// The number is rounded at once to what a lane holds.
template <typename T>
std::optional<std::uint64_t> bits_of_float(std::string_view text, bool negative) {
  const auto value = number_of<T>(text);
  if (!value || *value > std::numeric_limits<T>::max()) {
    return std::nullopt;
  }
  return bits_of_lane(negative ? -*value : *value);
}

}  // namespace

std::optional<std::uint64_t> bits_of_literal(std::string_view text, bool negative, Lanes lanes) {
  if (is_float(lanes)) {
    return lanes == Lanes::f32 ? bits_of_float<float>(text, negative)
                               : bits_of_float<double>(text, negative);
  }
  const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const auto value =
      number_of<std::uint64_t>(text.substr(is_hexadecimal ? 2 : 0), is_hexadecimal ? 16 : 10);
  const auto least = std::uint64_t{1} << (lanes == Lanes::i32 ? 31 : 63);  // without its sign
  if (!value || bits_of_integer(*value, lanes) != *value ||
      (!is_hexadecimal && *value > (negative ? least : least - 1))) {
    return std::nullopt;
  }
  return bits_of_integer(negative ? 0 - *value : *value, lanes);
}

std::uint64_t bits_of(int value, Lanes lanes) {
  switch (lanes) {
    case Lanes::f32:
      return bits_of_lane(static_cast<float>(value));
    case Lanes::f64:
      return bits_of_lane(static_cast<double>(value));
    default:
      return bits_of_integer(static_cast<std::uint64_t>(value), lanes);
  }
}

}  // namespace tributary::reduce
