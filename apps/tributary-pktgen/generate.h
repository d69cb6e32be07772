// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "options.h"

namespace tributary::pktgen {

// Runs the generator on its ports, until it is done or SIGINT or SIGTERM comes, and returns the
// exit code.
int generate(const Options& options);

}  // namespace tributary::pktgen
