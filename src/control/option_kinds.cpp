// SPDX-License-Identifier: BSD-3-Clause
#include "control/option_kinds.h"

namespace tributary::control::option {

std::string from_to(const std::string& min, const std::string& max) {
  return min + " to " + max;
}

std::string count_range(const Limits& limits) {
  return from_to(std::to_string(limits.min),
                 limits.max == seeds.max ? "2^63-1" : std::to_string(limits.max));
}

std::string length_range(const Limits& limits) {
  return "up to " + std::to_string(limits.max) + " bytes";
}

}  // namespace tributary::control::option
