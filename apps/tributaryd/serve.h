// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "control/config.h"

namespace tributary::daemon {

// Runs the daemon until SIGTERM, SIGINT or a shutdown over the control socket; then drains. A
// second signal ends it at once. Returns the process's exit status.
int serve(const control::DaemonConfig& config);

}  // namespace tributary::daemon
