// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <toml++/toml.h>

#include "control/loader.h"
#include "control/text.h"
#include "control/words.h"

namespace tributary::control {

using Position = toml::source_position;

// Returns the place of the value of `key`, or of the table itself if it has no such key.
Position position_of(const toml::table& table, std::string_view key);

// Writes a number like "0.25", with the digits that it needs, of six, and one at least.
std::string number_text(double value);

// Collects what is wrong with one file.
class Diagnostics {
 public:
  static constexpr std::size_t errors_max = 100;

  explicit Diagnostics(std::string file) : file_(std::move(file)) {}

  void error(Position position, std::string message, std::string hint = {});
  std::size_t count() const { return errors_.size(); }
  ConfigErrors take();  // in the order of the file

 private:
  std::string file_;
  ConfigErrors errors_;
};

template <class T>
struct Range {
  T min;
  T max;
};

// A quantity is written as text: this says how it is read, and how its limits are shown.
template <class T>
struct Quantity {
  using Value = T;
  Parsed<T> (*parse)(std::string_view);
  std::string (*text)(T);
};
inline constexpr Quantity<Duration> as_duration{parse_duration, duration_text};
inline constexpr Quantity<std::uint64_t> as_rate{parse_rate, rate_text};
inline constexpr Quantity<std::uint64_t> as_size{parse_size, size_text};

// A value may be this word, which means the second.
template <class T>
using Word = std::pair<std::string_view, T>;

// Reads the keys of one table. Every key is named once, where it is read; finish() complains about
// the keys that nobody named. A key that is absent or wrong leaves its variable alone.
class Reader {
 public:
  Reader(const toml::table& table, std::string where, Diagnostics& diagnostics)
      : table_(table), where_(std::move(where)), diagnostics_(diagnostics) {}

  const toml::table& source() const { return table_; }
  bool has(std::string_view key) const { return table_.contains(key); }
  // Returns how many values are written there, right or wrong; nothing where there is no array.
  std::optional<std::size_t> length(std::string_view key) const {
    const auto* const array = table_[key].as_array();
    return array == nullptr ? std::nullopt : std::optional(array->size());
  }
  void error(std::string_view key, std::string message, std::string hint = {}) {
    diagnostics_.error(position_of(table_, key), std::move(message), std::move(hint));
  }
  std::size_t errors() const { return diagnostics_.count(); }

  // This is for keys that are read only beside others.
  void know(std::string_view key) { find(key); }
  void require(std::initializer_list<std::string_view> keys);
  void boolean(std::string_view key, bool& out);
  void text(std::string_view key, std::string& out, std::size_t length_max = 255);
  // Reads the name of a switch or port: such names appear in tables, paths and links.
  void name(std::string_view key, std::string& out);
  void number(std::string_view key, double& out, Range<double> range);

  // Returns whether `out` was read.
  template <std::unsigned_integral T>
  bool integer(std::string_view key, T& out, Range<T> range) {
    const auto value = read_integer(key, range.min, range.max);
    if (value) {
      out = static_cast<T>(*value);
    }
    return value.has_value();
  }

  // Reads text that `parse` understands.
  template <class T, class Out>
  void parsed(std::string_view key, Out& out, Parsed<T> (*parse)(std::string_view)) {
    if (const auto value = text_for(key, parse)) {
      take(parse(*value), position_of(table_, key), out);
    }
  }

  template <class T, class Out>
  void quantity(std::string_view key, Out& out, const Quantity<T>& kind, Range<T> range) {
    const auto value = text_for(key, kind.parse);
    T result{};
    if (!value || !take(kind.parse(*value), position_of(table_, key), result)) {
      return;
    }
    if (result < range.min || result > range.max) {
      error(key, "`" + std::string(key) + "` is out of range",
            "from " + kind.text(range.min) + " to " + kind.text(range.max));
      return;
    }
    out = static_cast<Out>(result);
  }

  // Reads one of a few words: `choices` are an array of Word.
  template <class Out, class Words>
  void choice(std::string_view key, Out& out, const Words& choices) {
    const auto value = string_at(key);
    if (!value) {
      return;
    }
    std::string words;
    for (const auto& [word, meaning] : choices) {
      if (word == *value) {
        out = meaning;
        return;
      }
      words += (words.empty() ? "\"" : ", \"") + std::string(word) + "\"";
    }
    error(key, "`" + *value + "` is no value of `" + std::string(key) + "`", "one of " + words);
  }

  // Reads a string or an array of strings.
  template <class T>
  void list(std::string_view key, std::vector<T>& out, Parsed<T> (*parse)(std::string_view)) {
    for (const auto& [value, where] : strings_at(key)) {
      T item{};
      if (take(parse(value), where, item)) {
        out.push_back(item);
      }
    }
  }

  void integers(std::string_view key, std::vector<unsigned>& out, Range<unsigned> range);

  // Says whether the key has just this text, where other values than quantities are allowed.
  bool is_text(std::string_view key, std::string_view text) {
    const auto* node = find(key);
    return node != nullptr && node->value_exact<std::string_view>() == text;
  }
  // Returns a string or an array of strings, with their places: names to be looked up later.
  std::vector<std::pair<std::string, Position>> names(std::string_view key) {
    return strings_at(key);
  }

  // Reads a subtable, or each of an array of tables: it calls `read(Reader&)`, then finish().
  template <class F>
  void table(std::string_view key, F&& read) {
    if (const toml::table* child = table_at(key)) {
      Reader reader(*child, path(key), diagnostics_);
      read(reader);
      reader.finish();
    }
  }
  template <class F>
  void tables(std::string_view key, F&& read) {
    for (const toml::table* child : tables_at(key)) {
      Reader reader(*child, path(key), diagnostics_);
      read(reader);
      reader.finish();
    }
  }

  void finish();

 private:
  std::string path(std::string_view key) const;
  const toml::node* find(std::string_view key);
  void expected(std::string_view key, std::string_view type);
  std::optional<std::string> string_at(std::string_view key);
  std::string unquoted(std::string_view key) const;
  std::optional<std::int64_t> read_integer(std::string_view key, std::uint64_t min,
                                           std::uint64_t max);
  std::vector<std::pair<std::string, Position>> strings_at(std::string_view key);
  const toml::table* table_at(std::string_view key);
  std::vector<const toml::table*> tables_at(std::string_view key);

  // Returns text for `parse`. Where there is something else, `parse` says how to write it.
  template <class T>
  std::optional<std::string> text_for(std::string_view key, Parsed<T> (*parse)(std::string_view)) {
    const auto* const node = find(key);
    if (node == nullptr || node->is_string()) {
      return string_at(key);
    }
    const auto written = unquoted(key);
    const auto meant = parse(written);
    error(key, "`" + std::string(key) + "` is to be text in quotes",
          meant ? "write " + std::string(key) + " = \"" + written + "\"" : meant.error().hint);
    return std::nullopt;
  }

  template <class T, class Out>
  bool take(Parsed<T> value, Position where, Out& out) {
    if (!value) {
      diagnostics_.error(where, std::move(value.error().message), std::move(value.error().hint));
      return false;
    }
    out = *value;
    return true;
  }

  const toml::table& table_;
  std::string where_;  // "switch.port"; empty for the file
  Diagnostics& diagnostics_;
  std::vector<std::string_view> known_;
};

}  // namespace tributary::control
