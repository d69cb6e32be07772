// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/python/elements.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

namespace tributary::python {

namespace py = pybind11;

namespace {

using NamedType = std::pair<std::string_view, tributary_type>;
constexpr std::array<NamedType, 18> types{{
    {"f32", TRIBUTARY_F32},
    {"f64", TRIBUTARY_F64},
    {"f16", TRIBUTARY_F16},
    {"bf16", TRIBUTARY_BF16},
    {"i8", TRIBUTARY_I8},
    {"i16", TRIBUTARY_I16},
    {"i32", TRIBUTARY_I32},
    {"i64", TRIBUTARY_I64},
    {"i4", TRIBUTARY_I4},
    {"f8e4m3", TRIBUTARY_F8E4M3},
    {"f8e5m2", TRIBUTARY_F8E5M2},
    {"f32_i32", TRIBUTARY_F32_I32},
    {"f64_i32", TRIBUTARY_F64_I32},
    {"i32_i32", TRIBUTARY_I32_I32},
    {"i64_i32", TRIBUTARY_I64_I32},
    {"opaque4", TRIBUTARY_OPAQUE4},
    {"opaque8", TRIBUTARY_OPAQUE8},
    {"opaque16", TRIBUTARY_OPAQUE16},
}};

constexpr std::array<std::pair<std::string_view, tributary_operator>, 12> operators{{
    {"sum", TRIBUTARY_SUM},
    {"min", TRIBUTARY_MIN},
    {"max", TRIBUTARY_MAX},
    {"prod", TRIBUTARY_PROD},
    {"and", TRIBUTARY_BIT_AND},
    {"or", TRIBUTARY_BIT_OR},
    {"xor", TRIBUTARY_BIT_XOR},
    {"land", TRIBUTARY_LOGICAL_AND},
    {"lor", TRIBUTARY_LOGICAL_OR},
    {"lxor", TRIBUTARY_LOGICAL_XOR},
    {"minloc", TRIBUTARY_MINLOC},
    {"maxloc", TRIBUTARY_MAXLOC},
}};

constexpr unsigned handler_count = 64;

template <typename Table>
auto find(const Table& table, std::string_view name, const char* what) {
  const auto found = std::ranges::find(table, name, &Table::value_type::first);
  if (found != table.end()) {
    return found->second;
  }
  std::string text = "there is no " + std::string(what) + " '" + std::string(name) + "'; there are";
  for (const auto& row : table) {
    text += (&row == table.data() ? " " : ", ") + std::string(row.first);
  }
  throw py::value_error(text);
}

std::string_view name_of(tributary_type type) {
  return std::ranges::find(types, type, &NamedType::second)->first;
}

tributary_type integer_of(std::size_t bytes) {
  constexpr std::array sizes{TRIBUTARY_I8, TRIBUTARY_I16, TRIBUTARY_I32, TRIBUTARY_I64};
  return *std::ranges::find(sizes, bytes, tributary_type_size);
}

Elements named(const View& view, const std::string& dtype) {
  const auto type = type_named(dtype);
  const auto size = tributary_type_size(type);
  const auto item = view.item_bytes();
  if ((item != 1 && item != size) || view.bytes() % size != 0) {
    throw py::type_error("a buffer of " + std::to_string(view.bytes()) + " bytes in items of " +
                         std::to_string(item) + " holds no elements of type " + dtype +
                         ", which have " + std::to_string(size) + " bytes each");
  }
  return {type, view.bytes() / size};
}

[[noreturn]] void refuse_format(const std::string& format) {
  throw py::type_error("elements of the format '" + format +
                       "' cannot be sent: floats of 2, 4 and 8 bytes, integers of 1 to 8 bytes and "
                       "bool can, in this machine's byte order. Complex numbers can be viewed as "
                       "floats for sums (x.view('f8')); for other types name one as dtype, as "
                       "'bf16'");
}

Elements formatted(const View& view) {
  const auto format = view.format();
  std::string_view code = format;
  if (!code.empty() && (code.front() == '@' || code.front() == '=' || code.front() == '<')) {
    code.remove_prefix(1);
  }
  constexpr std::string_view known = "efdbhilqnBHILQN?";
  if (code.size() != 1 || known.find(code.front()) == std::string_view::npos) {
    refuse_format(format);
  }
  Elements elements{TRIBUTARY_I8, view.bytes() / view.item_bytes()};
  switch (code.front()) {
    case 'e':
      elements.type = TRIBUTARY_F16;
      break;
    case 'f':
      elements.type = TRIBUTARY_F32;
      break;
    case 'd':
      elements.type = TRIBUTARY_F64;
      break;
    default:
      elements.type = integer_of(view.item_bytes());
      elements.is_truth = code.front() == '?';
      elements.is_unsigned =
          std::string_view("BHILQN").find(code.front()) != std::string_view::npos;
  }
  return elements;
}

// A handler is for elements of one type, which are what they are on the wire.
tributary_operator handler_of(std::string_view number, const Elements& elements) {
  unsigned value = 0;
  const auto* const end = number.data() + number.size();
  const auto [stopped, error] = std::from_chars(number.data(), end, value);
  if (error != std::errc() || stopped != end || value >= handler_count) {
    throw py::value_error("there is no handler '" + std::string(number) +
                          "'; handlers have numbers from 0 to 63, as in 'handler:3'");
  }
  if (elements.is_unsigned || elements.is_truth) {
    throw py::type_error(
        "handlers know signed integers alone; give integers of a signed type (x.astype('int64')), "
        "or dtype='i8' and the like where the handler looks at bits");
  }
  return static_cast<tributary_operator>(TRIBUTARY_HANDLER + value);
}

}  // namespace

tributary_type type_named(const std::string& name) {
  return find(types, name, "dtype");
}

Elements elements_of(const View& view, const std::optional<std::string>& dtype) {
  return dtype ? named(view, *dtype) : formatted(view);
}

tributary_operator operator_of(const std::string& name, const Elements& elements) {
  constexpr std::string_view of_handlers = "handler:";
  if (name.starts_with(of_handlers)) {
    return handler_of(std::string_view(name).substr(of_handlers.size()), elements);
  }
  const auto op = find(operators, name, "operator");
  const bool compares = op == TRIBUTARY_MIN || op == TRIBUTARY_MAX;
  if (elements.is_unsigned && compares) {
    throw py::type_error(
        name +
        " of unsigned integers would compare them as signed ones; give integers of "
        "a signed type that has room for them (x.astype('int64')), or dtype='i8' "
        "and the like where the highest bit is never set");
  }
  if (tributary_has_operator(elements.type, op) == 0) {
    throw py::type_error("there is no " + name + " of " + std::string(name_of(elements.type)) +
                         ": and, or, xor, land, lor and lxor are for integers, minloc and maxloc "
                         "for pairs of a value and an index, which have nothing else");
  }
  const bool counts = op == TRIBUTARY_SUM || op == TRIBUTARY_PROD;
  if (elements.is_truth && counts) {
    throw py::type_error(name +
                         " of bool would not be a bool; convert them to integers "
                         "(x.astype('int32')), or take 'or' or 'and'");
  }
  return op;
}

}  // namespace tributary::python
