// SPDX-License-Identifier: BSD-3-Clause
#include "host/journal/sketch_bytes.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace tributary::host {
namespace {

std::string decimal_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> units = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < units.size(); value /= 1000) {
    ++unit;
  }
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, units.at(unit));
  return text.data();
}

}  // namespace

std::string text_of(const SketchBytes& bytes) {
  if (bytes.of_floats == 0) {
    return {};
  }
  const auto saved =
      100 - 100 * static_cast<double>(bytes.sent) / static_cast<double>(bytes.of_floats);
  std::array<char, 64> share{};
  std::snprintf(share.data(), share.size(), " (%.1f %% %s)", std::fabs(saved),
                saved < 0 ? "more" : "saved");
  return "sketches sent " + decimal_text(bytes.sent) + " in place of " +
         decimal_text(bytes.of_floats) + share.data();
}

}  // namespace tributary::host
