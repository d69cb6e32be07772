// SPDX-License-Identifier: BSD-3-Clause
#include "usage.h"

#include "unknown_command.h"

namespace tributary::ctl {

std::string usage_complaint(const CLI::App& app, const CLI::ParseError& error) {
  return apps::unknown_command(app).value_or(std::string(error.what()) + "; see --help");
}

CLI::Validator seconds_between(double least, double most) {
  const auto check = [least, most](const std::string& text) {
    double value = 0;
    const bool good = CLI::detail::lexical_cast(text, value) && value >= least && value <= most;
    return good ? std::string()
                : "`" + text + "` is no number of seconds from " + CLI::detail::to_string(least) +
                      " to " + CLI::detail::to_string(most);
  };
  return {check,
          "in [" + CLI::detail::to_string(least) + " - " + CLI::detail::to_string(most) + "]"};
}

CLI::Validator whole_number() {
  const auto check = [](const std::string& text) {
    const bool good = text.find_first_not_of("0123456789") == std::string::npos &&
                      (text.size() == 1 || !text.starts_with('0'));
    return good ? std::string() : "`" + text + "` is no whole number from 0 on";
  };
  return {check, "whole number"};
}

}  // namespace tributary::ctl
