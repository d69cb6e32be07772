// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "feed_options.h"

namespace tributary::pktgen {

// Runs the switches of a configuration in this process, feeds them without a copy of theirs, says
// what they did, and returns the exit code.
int feed(const FeedOptions& options);

}  // namespace tributary::pktgen
