// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tributary::bench {

// Runs the subcommand that tells how long an allreduce of machines with several ranks takes by the
// cost model of the NetReduce paper (appendix A), from its own name on, and returns the exit code.
int model(int argc, char** argv);

}  // namespace tributary::bench
