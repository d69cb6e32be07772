// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/protocol.h"

namespace tributary::panama {

// IPv4 with DSCP 56 (section 5), UDP, and PANAMA's port: DSCP 56 alone is class selector 7, which
// routing protocols use.
bool claims(const engine::Frame& frame);

// Job and tree; 0 if the packet is too short for its header.
std::uint64_t key(const engine::Frame& frame);

}  // namespace tributary::panama
