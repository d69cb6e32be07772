// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace tributary::apps {

// Tells what is wrong with a command line, or prints the help that was asked for, and returns the
// exit code.
int end_of_parse(const CLI::App& app, const CLI::ParseError& error);

}  // namespace tributary::apps
