// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "options.h"

namespace tributary::pktgen {

// Writes the files that the options describe, and returns the exit code.
int write_pcap(const Options& options);

}  // namespace tributary::pktgen
