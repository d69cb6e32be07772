// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/protocol.h"

namespace tributary::canary {

// Canary over UDP (destination port in the range) or directly over Ethernet.
bool claims(const engine::Frame& frame);

// Job and block; 0 if the packet is too short for its header.
std::uint64_t key(const engine::Frame& frame);

}  // namespace tributary::canary
