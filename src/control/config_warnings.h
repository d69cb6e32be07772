// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "control/config.h"

namespace tributary::control {

// Returns what a configuration is most likely not meant to say, though it contradicts nothing: one
// sentence each, with what to do. It can be put in force all the same.
std::vector<std::string> warnings_of(const DaemonConfig& config);

}  // namespace tributary::control
