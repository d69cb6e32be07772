// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace tributary::apps {

// Parses a command line. Whole numbers are decimal, also with zeros in front, where CLI11 by itself
// takes 0100 for 64, as C does, and 08 for no number.
void parse_decimal(CLI::App& app, int argc, const char* const* argv);

}  // namespace tributary::apps
