// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "controller/tree_use.h"
#include "output.h"

namespace tributary::ctl {

// Tells why nothing was removed: which jobs use which trees.
ExitCode report_in_use(const Options& options, const std::vector<controller::TreeUse>& uses);

}  // namespace tributary::ctl
