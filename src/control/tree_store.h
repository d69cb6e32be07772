// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "control/runtime_trees.h"

namespace tributary::control {

// Where a daemon keeps the trees that were installed while it runs; empty: nowhere.
std::string state_path(const DaemonConfig& config);

// Reads what was kept; nothing if there is no file. The error says what is wrong with it.
tl::expected<RuntimeTrees, std::string> load_trees(const std::string& path);
// Replaces what was kept: all of it or, with an error, nothing.
tl::expected<void, std::string> save_trees(const std::string& path, const RuntimeTrees& trees);

// What a daemon that starts takes up again. What cannot be read, or does not fit `config` any more,
// is left out, and the log says so.
RuntimeTrees restore_trees(const DaemonConfig& config);

}  // namespace tributary::control
