// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "options.h"

namespace tributary::pktgen {

// Writes the file that the options describe; the exit code.
int write_pcap(const Options& options);

}  // namespace tributary::pktgen
