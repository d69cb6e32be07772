// SPDX-License-Identifier: BSD-3-Clause
#include "unknown_command.h"

#include <string_view>
#include <vector>

#include "control/words.h"

namespace tributary::apps {
namespace {

// Returns the innermost command that was understood.
const CLI::App& innermost(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : innermost(*parsed.front());
}

}  // namespace

std::optional<std::string> unknown_command(const CLI::App& app) {
  const CLI::App& parent = innermost(app);
  std::vector<std::string_view> commands;
  for (const CLI::App* command : parent.get_subcommands([](const CLI::App*) { return true; })) {
    commands.push_back(command->get_name());
  }
  const auto rest = app.remaining(true);
  if (commands.empty() || rest.empty() || rest.front().starts_with('-')) {
    return std::nullopt;
  }
  const std::string& word = rest.front();
  const std::string path = &parent == &app ? "" : parent.get_name() + " ";
  const std::string guess = control::nearest(word, commands);
  return "no command `" + path + word + "`; " +
         (guess.empty() ? "there are " + control::joined(commands) + " (--help says more)"
                        : "did you mean `" + path + guess + "`?");
}

}  // namespace tributary::apps
