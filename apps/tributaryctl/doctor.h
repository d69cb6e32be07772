// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "output.h"

namespace tributary::ctl {

// Looks at this host and says what is missing, and the line that mends it. This needs no daemon. It
// fails only if something is missing without which the daemon cannot work.
ExitCode doctor(const Options& options);

}  // namespace tributary::ctl
