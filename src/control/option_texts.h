// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "control/join.h"
#include "control/option_row.h"

// These options are text, words, and what can be written as text.
namespace tributary::control::option {

std::string length_range(const Limits& limits);  // "up to 107 bytes"

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

// The label of a switch or a port is part of the path of their settings, and no setting.
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

// The value is one of `Words`, pairs of a word and what it means.
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
    return join(Words, [](const auto& word) { return as_quoted(word.first); });
  };
  return row;
}

// The value is what `Parse` makes of text.
template <auto Member, auto Parse, class Config = ConfigOf<Member>>
constexpr auto parsed(std::string_view key, Apply apply, std::string_view values,
                      std::string_view help) {
  return of_member<Member, Config>(
             key, apply, values, help,
             [](const auto& option, Reader& reader, auto& out) {
               reader.parsed(option.key, out, Parse);
             },
             [](const auto& value) { return item_text(value); })
      .as(Form::quoted);
}
template <auto Member, auto Parse, class Config = ConfigOf<Member>>
constexpr auto list(std::string_view key, Apply apply, std::string_view values,
                    std::string_view help) {
  return of_member<Member, Config>(
      key, apply, values, help,
      [](const auto& option, Reader& reader, auto& out) { reader.list(option.key, out, Parse); },
      [](const auto& all) { return join(all, [](const auto& item) { return item_text(item); }); });
}

}  // namespace tributary::control::option
