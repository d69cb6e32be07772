// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "output.h"

namespace tributary::ctl {

// Prints what ports, traffic classes and engines count, and what was dropped, in the text format of
// Prometheus (version 0.0.4). Prints nothing if any of it is not to be had.
ExitCode show_metrics(const Options& options);

}  // namespace tributary::ctl
