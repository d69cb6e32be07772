// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>

#include "output.h"

namespace tributary::ctl {

// How a member of a row is shown to people.
enum class Show {
  plain,
  flag,   // yes, no
  state,  // up, down
  bytes,
  rate,
  age,
  list,        // joined by commas
  known_list,  // the same, "unknown" where it is not known
  hops,        // next hops of a route
};

struct Column {
  const char* title;
  const char* pointer;  // JSON pointer into a row
  Show show = Show::plain;
  bool right = false;
};

// A subcommand that shows the rows of one method.
struct ListCommand {
  const char* name;
  const char* help;
  const char* method;
  std::span<const Column> columns;
};
extern const std::span<const ListCommand> list_commands;

// Filters and limits of a list.
struct ListOptions {
  std::string switch_name;  // empty: all
  std::uint64_t limit = 1000;
};

ExitCode show_list(const Options& options, const ListCommand& command, const ListOptions& list);
ExitCode show_engines(const Options& options, const ListOptions& list);
ExitCode show_stalled(const Options& options, const ListOptions& list);
ExitCode show_drops(const Options& options, bool all);
ExitCode show_counters(const Options& options);
ExitCode show_status(const Options& options);

// One call on a connection of its own.
tl::expected<nlohmann::json, control::CallError> call_daemon(const Options& options,
                                                             const std::string& method,
                                                             nlohmann::json params);

}  // namespace tributary::ctl
