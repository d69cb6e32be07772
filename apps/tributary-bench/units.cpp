// SPDX-License-Identifier: BSD-3-Clause
#include "units.h"

#include <charconv>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

namespace tributary::bench {

std::size_t bytes_of(const std::string& text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  constexpr std::uint64_t largest = std::uint64_t{1} << 40;
  if (error != std::errc{} || value > largest) {
    throw CLI::ValidationError(text, "is not a size such as 4096, 4K or 16M");
  }
  for (const auto& [letter, shift] : {std::pair{'K', 10}, {'M', 20}, {'G', 30}}) {
    if (!unit.empty() && (unit[0] == letter || unit[0] == letter + ('a' - 'A'))) {
      value <<= shift;
      unit.remove_prefix(1);
      break;
    }
  }
  if ((unit != "" && unit != "B" && unit != "iB") || value > largest) {
    throw CLI::ValidationError(text, "is not a size such as 4096, 4K or 16M");
  }
  return value;
}

std::uint64_t rate_of(const std::string& text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  if (error == std::errc{} && value > 0 && value < 1000000000) {
    for (const auto& [suffix, factor] :
         {std::pair{"kbit", 1000u}, {"Mbit", 1000000u}, {"Gbit", 1000000000u}}) {
      if (unit == suffix) {
        return value * factor;
      }
    }
  }
  throw CLI::ValidationError(text, "is not a rate such as 200Mbit or 1Gbit");
}

}  // namespace tributary::bench
