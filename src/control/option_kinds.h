// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "control/options.h"

// The kinds of rows of a table of options. All have the key, when a change takes effect, what
// values there are, and help.
namespace tributary::control::option {

std::string count_range(const Limits& limits);                        // "0 to 64"
std::string length_range(const Limits& limits);                       // "up to 107 bytes"
std::string from_to(const std::string& min, const std::string& max);  // "1us to 10s"

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

// Read and listed by code beside the table, or by functions of its own.
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

// A row of one member: `Read` takes the row, the reader and the member, `Text` a value that is
// given.
template <auto Member, class Read, class Text>
constexpr auto of_member(std::string_view key, Apply apply, std::string_view values,
                         std::string_view help, Read, Text) {
  using Config = ConfigOf<Member>;
  auto row = by_hand<Config>(key, apply, values, help);
  row.read = [](const Option<Config>& option, Reader& reader, Config& out) {
    Read{}(option, reader, out.*Member);
  };
  row.text = [](const Option<Config>& option, const Config& config) {
    return shown(option, config.*Member, Text{});
  };
  return row;
}

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

template <auto Member>
constexpr auto integer(std::string_view key, Apply apply, Limits limits, std::string_view help) {
  using Value = Bare<Member>;
  auto row = of_member<Member>(
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

template <auto Member>
constexpr auto text(std::string_view key, Apply apply, std::size_t length_max,
                    std::string_view help) {
  auto row = of_member<Member>(
      key, apply, {}, help,
      [](const auto& option, Reader& reader, std::string& out) {
        reader.text(option.key, out, option.limits.max);
      },
      std::identity{});
  row.form = Form::quoted;
  row.limits = {1, length_max};
  row.range = length_range;
  return row;
}

// Of a switch or a port. It is part of the path of their settings, and no setting.
template <auto Member>
constexpr auto label(std::string_view key, Apply apply, std::string_view help) {
  return of_member<Member>(
             key, apply, {}, help,
             [](const auto& option, Reader& reader, std::string& out) {
               reader.name(option.key, out);
             },
             std::identity{})
      .unlisted();
}

// One of `Words`, pairs of a word and what it means.
template <auto Member, const auto& Words>
constexpr auto words(std::string_view key, Apply apply, std::string_view help) {
  auto row = of_member<Member>(
      key, apply, {}, help,
      [](const auto& option, Reader& reader, auto& out) { reader.choice(option.key, out, Words); },
      [](const auto& value) {
        for (const auto& [word, meaning] : Words) {
          if (meaning == value) {
            return std::string(word);
          }
        }
        return std::string();
      });
  row.form = Form::quoted;
  row.range = [](const Limits&) {
    std::string list;
    for (const auto& [word, meaning] : Words) {
      list += (list.empty() ? "" : ", ") + as_quoted(word);
    }
    return list;
  };
  return row;
}

// What `Parse` makes of text.
template <auto Member, auto Parse>
constexpr auto parsed(std::string_view key, Apply apply, std::string_view values,
                      std::string_view help) {
  return of_member<Member>(
             key, apply, values, help,
             [](const auto& option, Reader& reader, auto& out) {
               reader.parsed(option.key, out, Parse);
             },
             [](const auto& value) { return item_text(value); })
      .as(Form::quoted);
}
template <auto Member, auto Parse>
constexpr auto list(std::string_view key, Apply apply, std::string_view values,
                    std::string_view help) {
  return of_member<Member>(
      key, apply, values, help,
      [](const auto& option, Reader& reader, auto& out) { reader.list(option.key, out, Parse); },
      [](const auto& all) {
        std::string items;
        for (const auto& item : all) {
          items += (items.empty() ? "" : ", ") + item_text(item);
        }
        return items;
      });
}

}  // namespace tributary::control::option
