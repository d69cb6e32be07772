// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/option_text.h"

#include <CLI/CLI.hpp>

namespace tributary::traffic {

void refuse(const std::string& option, const std::string& what) {
  throw CLI::ValidationError(option, what);
}

Duration duration_of(const std::string& option, const std::string& text) {
  return value_of(option, control::parse_duration(text));
}

}  // namespace tributary::traffic
