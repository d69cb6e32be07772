// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include <tl/expected.hpp>

#include "control/config.h"
#include "control/runtime_trees.h"

namespace tributary::dataplane {

// Returns what a reload from `current` to `next` puts in force: `next`, with the MAC addresses and
// rates that were taken from the devices and the trees that were installed at run time. The error
// names what can only change by a restart, or a tree that does not fit any more. `packets` are
// those that the daemon took at its start.
tl::expected<control::DaemonConfig, std::string> merge_reload(const control::DaemonConfig& current,
                                                              const control::DaemonConfig& next,
                                                              const control::RuntimeTrees& trees,
                                                              std::uint32_t packets);

// Takes note of the rate of a port's line, 0 while it is not known. Returns whether it is another
// one than before: many cards have no link yet when they are started.
bool note_line(forwarding::PortConfig& port, std::uint64_t bps);

}  // namespace tributary::dataplane
