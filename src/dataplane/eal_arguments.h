// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "control/config.h"
#include "dataplane/memory_plan.h"

namespace tributary::dataplane {

// This is the EAL's command line; the user never sees it. Lcore 0 is the control thread and floats
// over all of `control_cpus`; lcore 1 + i is packet core i, pinned to its CPU. `instance` tells
// daemons on one machine apart.
std::vector<std::string> eal_arguments(const control::DaemonConfig& config,
                                       const MemoryPlan& memory,
                                       const std::vector<unsigned>& control_cpus,
                                       const std::string& instance);

}  // namespace tributary::dataplane
