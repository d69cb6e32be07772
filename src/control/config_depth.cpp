// SPDX-License-Identifier: BSD-3-Clause
#include "control/config_depth.h"

#include <algorithm>

namespace tributary::control {
namespace {

constexpr std::size_t brackets_max = 32;
constexpr std::size_t dots_per_line_max = 64;

// A string of several lines may have one or two quotes of its own before those that close it.
constexpr std::size_t own_quotes_max = 2;

// Returns the place of the first character behind the string that starts at `i`: the end of the
// line, or of the text, if it is not closed.
std::size_t behind_string(std::string_view text, std::size_t i) {
  const char quote = text[i];
  const bool escapes = quote == '"';
  const std::string_view rest = text.substr(i);
  const bool multiline = rest.starts_with("\"\"\"") || rest.starts_with("'''");
  const std::string_view end = rest.substr(0, multiline ? 3 : 1);
  for (i += end.size(); i < text.size(); ++i) {
    if (text[i] == '\\' && escapes) {
      ++i;
    } else if (text.substr(i).starts_with(end)) {
      i += end.size();
      for (std::size_t own = 0; multiline && own < own_quotes_max; ++own) {
        i += text.substr(i).starts_with(quote) ? 1 : 0;
      }
      return i;
    } else if (text[i] == '\n' && !multiline) {
      return i;
    }
  }
  return text.size();
}

}  // namespace

std::optional<std::size_t> nested_too_deep(std::string_view text) {
  std::size_t brackets = 0;
  std::size_t dots = 0;
  for (std::size_t i = 0; i < text.size();) {
    switch (text[i]) {
      case '"':
      case '\'':
        i = behind_string(text, i);
        continue;
      case '#':
        i = std::min(text.find('\n', i), text.size());
        continue;
      case '[':
      case '{':
        ++brackets;
        break;
      case ']':
      case '}':
        brackets -= brackets > 0 ? 1 : 0;
        break;
      case '.':
        ++dots;
        break;
      case '\n':
        dots = 0;
        break;
      default:
        break;
    }
    if (brackets > brackets_max || dots > dots_per_line_max) {
      return i;
    }
    ++i;
  }
  return std::nullopt;
}

}  // namespace tributary::control
