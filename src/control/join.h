// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>

#include "control/text.h"

namespace tributary::control {

// Returns "a, b, c": the items of a range, each as `text` says it.
template <class Range, class Text = std::identity>
std::string join(const Range& items, Text text = {}, std::string_view between = ", ") {
  std::string all;
  for (const auto& item : items) {
    all += all.empty() ? std::string_view() : between;
    all += text(item);
  }
  return all;
}

// Writes numbers, and what control/text.h knows as text.
inline constexpr auto as_text = [](const auto& value) {
  if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(value)>>) {
    return std::to_string(value);
  } else {
    return to_string(value);
  }
};

}  // namespace tributary::control
