// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "control/config.h"

namespace tributary::dataplane {

// Returns what this process may do, a bit for each capability (capabilities(7)).
std::uint64_t held_capabilities();

// Returns those that a process needs for this device and that are not among `held`; empty if it has
// all.
std::string missing_capabilities(const control::DeviceConfig& device, std::uint64_t held);

}  // namespace tributary::dataplane
