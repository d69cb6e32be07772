// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "control/config.h"

namespace tributary::control {

// One setting differs. `before` is empty for what is new, `after` for what is gone.
struct ConfigChange {
  std::string setting;  // "switch leaf1 port up1 rate"
  std::string before;
  std::string after;
  bool restart = false;  // it cannot be put in force while the daemon runs
};

std::vector<ConfigChange> diff(const DaemonConfig& before, const DaemonConfig& after);

// Returns, say, "~ switch leaf1 port up1 rate: 200Mbit -> 100Mbit", with "  (needs a restart)"
// where it does.
std::string to_string(const ConfigChange& change);

bool needs_restart(const std::vector<ConfigChange>& changes);

}  // namespace tributary::control
