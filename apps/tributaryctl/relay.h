// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "output.h"

namespace tributary::ctl {

// Joins standard input and output with the control socket, until one of them ends. Another
// machine's tributaryctl starts this by ssh.
ExitCode relay(const Options& options);

}  // namespace tributary::ctl
