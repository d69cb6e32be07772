// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "control/config.h"

namespace tributary::control {

// A controller gave switches these `reduction_seed`s over the control socket, by their names. They
// are for switches whose configuration has none, which is 0.
using RuntimeSeeds = std::map<std::string, std::uint64_t>;

// Puts them into `config`; what the file says stays.
void add_seeds(DaemonConfig& config, const RuntimeSeeds& seeds);

// Returns `current` with the seeds of the file, `given`, and those given at run time, `seeds`.
DaemonConfig with_seeds(DaemonConfig current, const DaemonConfig& given, const RuntimeSeeds& seeds);

}  // namespace tributary::control
