// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "control/text.h"
#include "packet/clock.h"

namespace tributary::traffic {

// Throws CLI::ValidationError, which names the option, then what is wrong with it and what would be
// right.
[[noreturn]] void refuse(const std::string& option, const std::string& what);

// Returns what the text of an option was parsed to. Throws as refuse() does.
template <typename T>
T value_of(const std::string& option, const control::Parsed<T>& parsed) {
  if (!parsed) {
    const auto& complaint = parsed.error();
    refuse(option, complaint.message + (complaint.hint.empty() ? "" : "; " + complaint.hint));
  }
  return *parsed;
}
template <typename T>
T value_of(const std::string& option, const tl::expected<T, std::string>& parsed) {
  if (!parsed) {
    refuse(option, parsed.error());
  }
  return *parsed;
}

// Parses texts such as "500ms" and "10s". Throws as refuse() does.
Duration duration_of(const std::string& option, const std::string& text);

}  // namespace tributary::traffic
