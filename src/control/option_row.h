// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "control/options.h"

// All kinds of rows of a table of options are made of this.
namespace tributary::control::option {

template <auto Member>
struct MemberOf;
template <class C, class V, V C::*Member>
struct MemberOf<Member> {
  using Config = C;
  using Value = V;
};
template <auto Member>
using ConfigOf = typename MemberOf<Member>::Config;

template <class T>
struct BareOf {
  using Type = T;
};
template <class T>
struct BareOf<std::optional<T>> {
  using Type = T;
};
template <auto Member>
using Bare = typename BareOf<typename MemberOf<Member>::Value>::Type;

template <class T>
bool is_given(const T& value) {
  if constexpr (requires { value.is_unspecified(); }) {
    return !value.is_unspecified();
  } else if constexpr (requires { value.is_zero(); }) {
    return !value.is_zero();
  } else if constexpr (requires { value.empty(); }) {
    return !value.empty();
  } else {
    return value != T{};
  }
}

template <class T>
std::string item_text(const T& value) {
  if constexpr (requires { to_string(value); }) {
    return to_string(value);
  } else {
    return std::string(name(value));
  }
}

// Zero is a number like others, unless the row says what it means.
template <class T>
inline constexpr bool has_zero =
    std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, Duration>;

template <class Config, class Value, class Text>
std::string shown(const Option<Config>& option, const Value& value, Text text) {
  const bool is_shown = is_given(value) || (has_zero<Value> && option.unset.empty());
  return is_shown ? text(value) : std::string(option.unset);
}
template <class Config, class Value, class Text>
std::string shown(const Option<Config>& option, const std::optional<Value>& value, Text text) {
  return value ? text(*value) : std::string(option.unset);
}

// Code beside the table reads and lists the option, or functions of its own do.
template <class Config>
constexpr Option<Config> by_hand(std::string_view key, Apply apply, std::string_view values,
                                 std::string_view help) {
  return {.key = key, .apply = apply, .help = help, .values = values};
}
template <class Config, void (*Read)(Reader&, Config&), std::string (*Text)(const Config&)>
constexpr Option<Config> custom(std::string_view key, Apply apply, std::string_view values,
                                std::string_view help) {
  auto row = by_hand<Config>(key, apply, values, help);
  row.read = [](const Option<Config>&, Reader& reader, Config& out) { Read(reader, out); };
  row.text = [](const Option<Config>&, const Config& config) { return Text(config); };
  return row;
}

// A row is for one member, of `Config` or of what that is derived from: `Read` takes the row, the
// reader and the member, `Text` a value that is given.
template <auto Member, class Config = ConfigOf<Member>, class Read, class Text>
constexpr auto of_member(std::string_view key, Apply apply, std::string_view values,
                         std::string_view help, Read, Text) {
  auto row = by_hand<Config>(key, apply, values, help);
  row.read = [](const Option<Config>& option, Reader& reader, Config& out) {
    Read{}(option, reader, out.*Member);
  };
  row.text = [](const Option<Config>& option, const Config& config) {
    return shown(option, config.*Member, Text{});
  };
  return row;
}

}  // namespace tributary::control::option
