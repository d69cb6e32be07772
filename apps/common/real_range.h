// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <string>

#include <CLI/CLI.hpp>

namespace tributary::apps {

// Accepts numbers from `least` to `most`; unlike CLI::Range, it does not take "nan".
inline CLI::Validator real_range(double least, double most) {
  const CLI::Range range(least, most);
  const auto check = [range](const std::string& text) {
    double value = 0;
    return CLI::detail::lexical_cast(text, value) && std::isnan(value)
               ? "'" + text + "' is not a number"
               : range(text);
  };
  return {check, range.get_description()};
}

}  // namespace tributary::apps
