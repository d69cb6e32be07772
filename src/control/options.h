// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "control/config_reader.h"

namespace tributary::control {

// Settings are listed by their path, as `config diff` shows them. What has its default value is
// listed too, so that two configurations name the same settings.
struct SettingText {
  std::string text;
  bool restart = false;  // it cannot be put in force while the daemon runs
  // Of what comes and goes as one line, but shows only the options that differ where some do.
  std::map<std::string, std::string> options{};
};
using SettingTexts = std::map<std::string, SettingText>;

// A change takes effect with a reload; with a reload that does not raise the value; or when the
// daemon starts again.
enum class Apply : std::uint8_t { reload, reload_not_upwards, restart };

// The value is written as it is, in quotes, in brackets, or as a table, or several, of its own:
// [switch.bfd], [[switch.port]].
enum class Form : std::uint8_t { plain, quoted, bracketed, table, tables };

using Limits = Range<std::uint64_t>;
// Seeds are all of TOML's integers, which are signed, from 0.
inline constexpr Limits seeds{0, std::numeric_limits<std::int64_t>::max()};

// One option of a table of the configuration is said once: how it is read, what `config diff` shows
// and its row in the reference follow from it. What a row cannot say, as how two options go
// together, is code beside the table.
template <class Config>
struct Option {
  std::string_view key;
  Apply apply = Apply::reload;
  std::string_view help{};
  Form form = Form::plain;
  bool is_required = false;
  std::string_view unset{};     // shown for a value that is not given, or zero
  std::string_view fallback{};  // its default in the reference, where no text says it
  std::string_view values{};    // if empty, the limits say which there are
  Limits limits{0, 0};
  // Where these are null, code beside the table reads the key, or lists it.
  void (*read)(const Option& option, Reader& reader, Config& out) = nullptr;
  std::string (*text)(const Option& option, const Config& config) = nullptr;
  std::string (*range)(const Limits& limits) = nullptr;

  constexpr Option required() const { return with(&Option::is_required, true); }
  constexpr Option unset_is(std::string_view shown) const { return with(&Option::unset, shown); }
  constexpr Option default_is(std::string_view said) const { return with(&Option::fallback, said); }
  // The text says what the limits do not: how the option goes together with others.
  constexpr Option values_are(std::string_view said) const { return with(&Option::values, said); }
  // This says how it is listed, where its value alone does not.
  constexpr Option listed_as(std::string (*shown)(const Option&, const Config&)) const {
    return with(&Option::text, shown);
  }
  // Code beside the table lists it, as a part of a path.
  constexpr Option unlisted() const { return listed_as(nullptr); }
  constexpr Option as(Form written) const { return with(&Option::form, written); }

 private:
  template <class Value>
  constexpr Option with(Value Option::*member, Value value) const {
    auto copy = *this;
    copy.*member = value;
    return copy;
  }
};
template <class Config>
using Options = std::span<const Option<Config>>;

template <class Config>
void read_options(Reader& reader, std::type_identity_t<Options<Config>> options, Config& out) {
  for (const auto& option : options) {
    if (option.is_required) {
      reader.require({option.key});
    }
  }
  for (const auto& option : options) {
    if (option.read != nullptr) {
      option.read(option, reader, out);
    }
  }
}

// Lists each option as a setting of its own, below `path`.
template <class Config>
void list_options(SettingTexts& out, const std::string& path,
                  std::type_identity_t<Options<Config>> options, const Config& config) {
  for (const auto& option : options) {
    if (option.text != nullptr) {
      out[path + " " + std::string(option.key)] = {option.text(option, config),
                                                   option.apply == Apply::restart};
    }
  }
}

// Returns all of them as one setting: "window 2 mtu 1024". What is empty is left out.
template <class Config>
std::string options_line(std::type_identity_t<Options<Config>> options, const Config& config) {
  std::string line;
  for (const auto& option : options) {
    const auto text = option.text != nullptr ? option.text(option, config) : std::string();
    if (!text.empty()) {
      line += (line.empty() ? "" : " ") + std::string(option.key) + " " + text;
    }
  }
  return line;
}

// Lists all of them as one setting, of which a change shows the options that differ.
template <class Config>
void list_line(SettingTexts& out, const std::string& path,
               std::type_identity_t<Options<Config>> options, const Config& config) {
  auto& setting = out[path] = {options_line(options, config)};
  for (const auto& option : options) {
    if (option.text != nullptr) {
      setting.options[std::string(option.key)] = option.text(option, config);
    }
  }
}

// The reference says this of an option.
struct OptionRow {
  std::string key;
  std::string help;
  std::string fallback;  // its default
  std::string range;
  Apply apply = Apply::reload;
};
struct OptionTable {
  std::string name;  // "[switch.canary]"
  std::vector<OptionRow> rows;
};
using OptionTables = std::vector<OptionTable>;
OptionTable& add_table(OptionTables& tables, std::string name);

// Returns `key` as the reference shows it: with a `*` where it is required, with its path where it
// is a table in `table`.
std::string shown_key(std::string_view table, std::string_view key, Form form, bool required);
// Returns `value` in the marks of code, and in quotes.
std::string as_quoted(std::string_view value);
// Returns `value` as it is written in a file.
std::string as_written(std::string_view value, Form form);

template <class Config>
std::string default_text(const Option<Config>& option) {
  if (!option.fallback.empty() || option.text == nullptr || option.is_required) {
    return std::string(option.fallback);
  }
  const auto value = option.text(option, Config{});
  return value == option.unset ? value : as_written(value, option.form);
}

template <class Config>
void describe_options(Options<Config> options, OptionTable& out) {
  for (const auto& option : options) {
    const bool is_bounded = option.values.empty() && option.range != nullptr;
    out.rows.push_back({shown_key(out.name, option.key, option.form, option.is_required),
                        std::string(option.help), default_text(option),
                        is_bounded ? option.range(option.limits) : std::string(option.values),
                        option.apply});
  }
}

// Writes tables of Markdown, each below a heading with its name.
std::string to_markdown(const OptionTables& tables);

}  // namespace tributary::control
