// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "control/loader.h"

namespace tributary::control::test {

inline std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string_view::npos) << from;
  return at == std::string_view::npos ? std::string(text)
                                      : std::string(text).replace(at, from.size(), to);
}

// One fault in a configuration that is otherwise correct, and the expected message.
struct Damage {
  const char* name;
  const char* find;     // text in the correct one, replaced by ...
  const char* replace;  // ... this
  std::uint32_t line;
  std::uint32_t column;  // 0: any
  const char* message;   // part of it
  const char* hint;      // part of it
};

inline void PrintTo(const Damage& damage, std::ostream* out) {
  *out << damage.name;
}

inline std::string name_of(const testing::TestParamInfo<Damage>& test) {
  return test.param.name;
}

inline void expect_placed_and_explained(std::string_view good, const Damage& damage) {
  const auto loaded = parse_config(replaced(good, damage.find, damage.replace), "test.toml");
  ASSERT_FALSE(loaded);
  const auto is_expected = [&](const ConfigError& error) {
    return error.file == "test.toml" && error.line == damage.line &&
           (damage.column == 0 || error.column == damage.column) &&
           error.message.find(damage.message) != std::string::npos &&
           error.hint.find(damage.hint) != std::string::npos;
  };
  const auto& errors = loaded.error();
  EXPECT_TRUE(std::any_of(errors.begin(), errors.end(), is_expected))
      << "expected " << damage.line << ":" << damage.column << ": " << damage.message << " ("
      << damage.hint << "), got\n"
      << to_string(errors);
}

}  // namespace tributary::control::test
