// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "control/config.h"

namespace tributary::dataplane {

// What a reload from `current` to `next` puts in force: `next`, with the MAC addresses and
// rates that were taken from the devices. The error names what can only change by a restart.
tl::expected<control::DaemonConfig, std::string> merge_reload(const control::DaemonConfig& current,
                                                              const control::DaemonConfig& next);

}  // namespace tributary::dataplane
