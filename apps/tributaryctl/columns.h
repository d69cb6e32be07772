// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

namespace tributary::ctl {

// A Show tells how a member of a row is shown to people.
enum class Show {
  plain,
  flag,   // yes, no
  state,  // up, down
  bytes,
  known_bytes,  // like bytes, "-" where there are none
  rate,
  age,
  list,        // joined by commas
  known_list,  // like list, "unknown" where it is not known
  hops,        // next hops of a route
  parent,      // the port towards a tree's root
};

struct Column {
  const char* title;
  const char* pointer;  // JSON pointer into a row
  Show show = Show::plain;
  bool right = false;
};

// A ListCommand is a subcommand that shows the rows of one method.
struct ListCommand {
  const char* name;
  const char* help;
  const char* method;
  std::span<const Column> columns;
};
extern const std::span<const ListCommand> list_commands;
// These lists are shown in their own way.
extern const std::span<const Column> engine_columns;
extern const std::span<const Column> stalled_columns;
extern const std::span<const Column> drop_columns;
extern const std::span<const Column> counter_columns;
extern const std::span<const Column> core_columns;
extern const std::span<const Column> handler_columns;

}  // namespace tributary::ctl
