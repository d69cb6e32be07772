// SPDX-License-Identifier: BSD-3-Clause
#include "control/config_reader.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace tributary::control {

std::string number_text(double value) {
  std::array<char, 400> digits{};  // the least double has 324 behind the point
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed)
          .ptr;
  const std::string text(digits.data(), end);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

Position position_of(const toml::table& table, std::string_view key) {
  const toml::node* node = table.get(key);
  return node == nullptr ? table.source().begin : node->source().begin;
}

void Diagnostics::error(Position position, std::string message, std::string hint) {
  if (errors_.size() < errors_max) {
    errors_.push_back({file_, position.line, position.column, std::move(message), std::move(hint)});
  }
}

ConfigErrors Diagnostics::take() {
  std::stable_sort(errors_.begin(), errors_.end(), [](const auto& a, const auto& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  });
  return std::move(errors_);
}

std::string Reader::path(std::string_view key) const {
  return where_.empty() ? std::string(key) : where_ + "." + std::string(key);
}

const toml::node* Reader::find(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
    known_.push_back(key);
  }
  return table_.get(key);
}

void Reader::expected(std::string_view key, std::string_view type) {
  error(key, "`" + std::string(key) + "` is to be " + std::string(type));
}

void Reader::require(std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (find(key) == nullptr) {
      diagnostics_.error(table_.source().begin,
                         "`" + std::string(key) + "` is missing" +
                             (where_.empty() ? std::string() : " in [" + where_ + "]"));
    }
  }
}

void Reader::boolean(std::string_view key, bool& out) {
  const toml::node* node = find(key);
  if (node == nullptr) {
    return;
  }
  if (const auto value = node->value_exact<bool>()) {
    out = *value;
  } else {
    expected(key, "true or false");
  }
}

std::optional<std::string> Reader::string_at(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) {
    return std::nullopt;
  }
  auto value = node->value_exact<std::string>();
  if (!value) {
    expected(key, "text in quotes");
  }
  return value;
}

// Returns a whole number as it is in the file; of all else nothing.
std::string Reader::unquoted(std::string_view key) const {
  const auto number = table_[key].value_exact<std::int64_t>();
  return number ? std::to_string(*number) : std::string();
}

void Reader::text(std::string_view key, std::string& out, std::size_t length_max) {
  auto value = string_at(key);
  if (!value) {
    return;
  }
  const bool printable = std::all_of(value->begin(), value->end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
  });
  if (value->empty() || value->size() > length_max || !printable) {
    error(key, "`" + std::string(key) + "` is empty, too long or holds control characters",
          "1 to " + std::to_string(length_max) + " characters");
    return;
  }
  out = std::move(*value);
}

void Reader::name(std::string_view key, std::string& out) {
  constexpr std::size_t name_bytes_max = 32;
  auto value = string_at(key);
  if (!value) {
    return;
  }
  const bool plain = std::all_of(value->begin(), value->end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
  if (value->empty() || value->size() > name_bytes_max || !plain) {
    error(key, "`" + std::string(key) + "` is not a name",
          "1 to 32 letters, digits, `-`, `_` and `.`");
    return;
  }
  out = std::move(*value);
}

void Reader::number(std::string_view key, double& out, Range<double> range) {
  const toml::node* node = find(key);
  if (node == nullptr) {
    return;
  }
  const auto value = node->is_number() ? node->value<double>() : std::nullopt;
  if (!value) {
    expected(key, "a number");
  } else if (!(*value >= range.min && *value <= range.max)) {  // this refuses NaN, too
    error(key, "`" + std::string(key) + "` is out of range",
          "from " + number_text(range.min) + " to " + number_text(range.max));
  } else {
    out = *value;
  }
}

std::optional<std::int64_t> Reader::read_integer(std::string_view key, std::uint64_t min,
                                                 std::uint64_t max) {
  const toml::node* node = find(key);
  if (node == nullptr) {
    return std::nullopt;
  }
  const auto value = node->value_exact<std::int64_t>();
  if (!value) {
    expected(key, "a whole number");
    return std::nullopt;
  }
  if (*value < 0 || static_cast<std::uint64_t>(*value) < min ||
      static_cast<std::uint64_t>(*value) > max) {
    error(key, "`" + std::string(key) + "` is out of range",
          "from " + std::to_string(min) + " to " + std::to_string(max));
    return std::nullopt;
  }
  return value;
}

void Reader::integers(std::string_view key, std::vector<unsigned>& out, Range<unsigned> range) {
  const toml::node* node = find(key);
  const toml::array* array = node == nullptr ? nullptr : node->as_array();
  if (array == nullptr) {
    if (node != nullptr) {
      expected(key, "an array of whole numbers");
    }
    return;
  }
  out.clear();
  for (const toml::node& item : *array) {
    const auto value = item.value_exact<std::int64_t>();
    if (!value || *value < range.min || *value > range.max) {
      diagnostics_.error(item.source().begin,
                         "`" + std::string(key) + "` holds something else than a number from " +
                             std::to_string(range.min) + " to " + std::to_string(range.max));
      continue;
    }
    out.push_back(static_cast<unsigned>(*value));
  }
}

std::vector<std::pair<std::string, Position>> Reader::strings_at(std::string_view key) {
  std::vector<std::pair<std::string, Position>> strings;
  const toml::node* node = find(key);
  if (node == nullptr) {
    return strings;
  }
  if (const auto single = node->value_exact<std::string>()) {
    strings.emplace_back(*single, node->source().begin);
    return strings;
  }
  const toml::array* array = node->as_array();
  if (array == nullptr) {
    expected(key, "text in quotes, or an array of such");
    return strings;
  }
  for (const toml::node& item : *array) {
    if (const auto value = item.value_exact<std::string>()) {
      strings.emplace_back(*value, item.source().begin);
    } else {
      diagnostics_.error(item.source().begin, "text in quotes is expected here");
    }
  }
  return strings;
}

const toml::table* Reader::table_at(std::string_view key) {
  const toml::node* node = find(key);
  if (node != nullptr && !node->is_table()) {
    expected(key, "a table");
  }
  return node == nullptr ? nullptr : node->as_table();
}

std::vector<const toml::table*> Reader::tables_at(std::string_view key) {
  std::vector<const toml::table*> tables;
  const toml::node* node = find(key);
  if (node == nullptr) {
    return tables;
  }
  const toml::array* array = node->as_array();
  if (array == nullptr) {
    error(key, "`" + std::string(key) + "` is to be an array of tables",
          "write [[" + path(key) + "]], with double brackets");
    return tables;
  }
  for (const toml::node& item : *array) {
    if (const toml::table* table = item.as_table()) {
      tables.push_back(table);
    } else {
      diagnostics_.error(item.source().begin, "a table is expected here");
    }
  }
  return tables;
}

void Reader::finish() {
  for (const auto& [key, node] : table_) {
    if (std::find(known_.begin(), known_.end(), key.str()) != known_.end()) {
      continue;
    }
    const std::string guess = nearest(key.str(), known_);
    diagnostics_.error(key.source().begin,
                       "unknown key `" + std::string(key.str()).substr(0, 64) + "`" +
                           (where_.empty() ? std::string() : " in [" + where_ + "]"),
                       guess.empty() ? std::string() : "did you mean `" + guess + "`?");
  }
}

}  // namespace tributary::control
