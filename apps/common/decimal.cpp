// SPDX-License-Identifier: BSD-3-Clause
#include "decimal.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace tributary::apps {
namespace {

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

// Says whether the values of an option are whole numbers, by what its help calls them: CLI11's own
// names, or ours.
bool is_of_numbers(const CLI::Option& option) {
  constexpr std::array names{"INT", "UINT", "N", "BYTES", "CPU", "COUNT"};
  const auto type = option.get_type_name();
  const auto name = std::string_view(type).substr(0, type.find_first_of(": "));
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string without_zeros_in_front(std::string& text) {
  if (text.empty()) {
    return {};
  }
  const auto sign = text.starts_with('-') || text.starts_with('+') ? 1u : 0u;
  const auto rest = text.begin() + sign;
  const auto first = std::find_if(rest, text.end(), [](char letter) { return letter != '0'; });
  // 0, 0K and 0x10 keep their zero.
  text.erase(rest, first == text.end() || !is_digit(*first) ? std::max(rest, first - 1) : first);
  return {};
}

void read_decimal(CLI::App& app) {
  for (auto* option : app.get_options()) {
    if (is_of_numbers(*option)) {
      // A transformation goes in front of the checks there are, and of units.
      option->transform(CLI::Validator(without_zeros_in_front, ""));
    }
  }
  for (auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    read_decimal(*command);
  }
}

}  // namespace

void parse_decimal(CLI::App& app, int argc, const char* const* argv) {
  read_decimal(app);
  app.parse(argc, argv);
}

}  // namespace tributary::apps
