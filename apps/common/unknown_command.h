// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

namespace tributary::apps {

// Returns "no command `prot`; did you mean `port`?", of a command line that `app` did not take, or
// no value if its first word that was not understood does not stand where a command should.
std::optional<std::string> unknown_command(const CLI::App& app);

}  // namespace tributary::apps
