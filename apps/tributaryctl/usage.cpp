// SPDX-License-Identifier: BSD-3-Clause
#include "usage.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "control/words.h"

namespace tributary::ctl {
namespace {

// The innermost command that was understood.
const CLI::App& innermost(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : innermost(*parsed.front());
}

// The word where a command should stand; empty if that is not what is wrong.
std::string unknown_command(const CLI::App& app) {
  const auto rest = app.remaining(true);
  const bool options = std::any_of(rest.begin(), rest.end(),
                                   [](const std::string& word) { return word.starts_with('-'); });
  return rest.empty() || options ? std::string() : rest.front();
}

}  // namespace

std::string usage_complaint(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& parent = innermost(app);
  std::vector<std::string_view> commands;
  for (const CLI::App* command : parent.get_subcommands([](const CLI::App*) { return true; })) {
    commands.push_back(command->get_name());
  }
  const std::string word = unknown_command(app);
  if (commands.empty() || word.empty()) {
    return std::string(error.what()) + "; see --help";
  }
  const std::string path = &parent == &app ? "" : parent.get_name() + " ";
  const std::string guess = control::nearest(word, commands);
  return "no command `" + path + word + "`; " +
         (guess.empty() ? "there are " + control::joined(commands)
                        : "did you mean `" + path + guess + "`?");
}

CLI::Validator seconds_between(double least, double most) {
  const auto check = [least, most](const std::string& text) {
    double value = 0;
    const bool good = CLI::detail::lexical_cast(text, value) && value >= least && value <= most;
    return good ? std::string()
                : "`" + text + "` is no number of seconds from " + CLI::detail::to_string(least) +
                      " to " + CLI::detail::to_string(most);
  };
  return {check, "SECONDS"};
}

}  // namespace tributary::ctl
