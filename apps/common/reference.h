// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <string>

#include <CLI/CLI.hpp>

namespace tributary::apps {

// Adds --reference, which prints what `text` returns, tables of Markdown of which docs/reference is
// made, and ends the program. `what` says of what they are.
void add_reference(CLI::App& app, const std::string& what, std::function<std::string()> text);

// Returns the tables of all that `app` declares: "NAME: commands"; "NAME: options", which are its
// own; and one for each group of its commands' options, named after the group. What is alike for
// several commands is one row, which names them unless they are all that the table is about.
std::string reference_of(const CLI::App& app);

// Returns a line of a table of Markdown.
std::string table_line(std::span<const std::string> cells);

}  // namespace tributary::apps
