// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

#include "control/join.h"
#include "control/option_row.h"

// These options are numbers and quantities. What values there are follows from the limits of the
// row.
namespace tributary::control::option {

std::string count_range(const Limits& limits);                        // "0 to 64"
std::string from_to(const std::string& min, const std::string& max);  // "1us to 10s"

template <class Value, class Config>
constexpr Range<Value> limits_of(const Option<Config>& option) {
  return {static_cast<Value>(option.limits.min), static_cast<Value>(option.limits.max)};
}

template <auto Member>
constexpr auto boolean(std::string_view key, Apply apply, std::string_view help) {
  return of_member<Member>(
      key, apply, "true, false", help,
      [](const auto& option, Reader& reader, bool& out) { reader.boolean(option.key, out); },
      [](bool value) { return std::string(value ? "true" : "false"); });
}

template <auto Member, class Config = ConfigOf<Member>>
constexpr auto integer(std::string_view key, Apply apply, Limits limits, std::string_view help) {
  using Value = Bare<Member>;
  auto row = of_member<Member, Config>(
      key, apply, {}, help,
      [](const auto& option, Reader& reader, auto& out) {
        Value value{};
        if (reader.integer(option.key, value, limits_of<Value>(option))) {
          out = value;
        }
      },
      [](Value value) { return std::to_string(value); });
  row.limits = limits;
  row.range = count_range;
  return row;
}

// The value is one of a few numbers, which `All` has in ascending order.
template <auto Member, const auto& All>
constexpr auto one_of(std::string_view key, Apply apply, std::string_view help) {
  using Value = Bare<Member>;
  auto row = of_member<Member>(
      key, apply, {}, help,
      [](const auto& option, Reader& reader, auto& out) {
        Value value{};
        if (!reader.integer(option.key, value, limits_of<Value>(option))) {
          return;
        }
        if (std::find(std::begin(All), std::end(All), value) == std::end(All)) {
          reader.error(option.key,
                       std::to_string(value) + " is no value of `" + std::string(option.key) + "`",
                       "one of " + option.range(option.limits));
          return;
        }
        out = value;
      },
      [](Value value) { return std::to_string(value); });
  row.limits = {*std::begin(All), *std::prev(std::end(All))};
  row.range = [](const Limits&) { return join(All, as_text); };
  return row;
}

template <auto Member>
constexpr auto probability(std::string_view key, Apply apply, std::string_view help) {
  return of_member<Member>(
      key, apply, "0 to 1", help,
      [](const auto& option, Reader& reader, double& out) {
        reader.number(option.key, out, {0, 1});
      },
      [](double value) { return number_text(value); });
}

template <auto Member, const auto& Kind>
constexpr auto quantity(std::string_view key, Apply apply, Limits limits, std::string_view help) {
  using Value = typename std::remove_cvref_t<decltype(Kind)>::Value;
  auto row = of_member<Member>(
      key, apply, {}, help,
      [](const auto& option, Reader& reader, auto& out) {
        reader.quantity(option.key, out, Kind, limits_of<Value>(option));
      },
      [](const auto& value) { return Kind.text(static_cast<Value>(value)); });
  row.form = Form::quoted;
  row.limits = limits;
  row.range = [](const Limits& bounds) {
    return from_to(Kind.text(static_cast<Value>(bounds.min)),
                   Kind.text(static_cast<Value>(bounds.max)));
  };
  return row;
}
template <auto Member>
constexpr auto duration(std::string_view key, Apply apply, Range<Duration> limits,
                        std::string_view help) {
  return quantity<Member, as_duration>(key, apply,
                                       {static_cast<std::uint64_t>(limits.min.count()),
                                        static_cast<std::uint64_t>(limits.max.count())},
                                       help);
}
template <auto Member>
constexpr auto rate(std::string_view key, Apply apply, Limits limits, std::string_view help) {
  return quantity<Member, as_rate>(key, apply, limits, help);
}
template <auto Member>
constexpr auto size(std::string_view key, Apply apply, Limits limits, std::string_view help) {
  return quantity<Member, as_size>(key, apply, limits, help);
}

}  // namespace tributary::control::option
