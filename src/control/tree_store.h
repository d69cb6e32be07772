// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "control/runtime_seeds.h"
#include "control/runtime_trees.h"

namespace tributary::control {

// Returns where a daemon keeps the trees and seeds that it got while it runs; empty: nowhere.
std::string state_path(const DaemonConfig& config);

// load_state() reads what was kept; nothing if there is no file. The error says what is wrong with
// it.
struct RuntimeState {
  RuntimeTrees trees;
  RuntimeSeeds seeds;
};
tl::expected<RuntimeState, std::string> load_state(const std::string& path);
// Replaces what was kept: all of it or, with an error, nothing.
tl::expected<void, std::string> save_state(const std::string& path, const RuntimeState& state);

// Returns what a daemon that starts takes up again. What cannot be read, and trees that do not fit
// `config` any more, are left out, and the log says so.
RuntimeState restore_state(const DaemonConfig& config);

}  // namespace tributary::control
