// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/kind.h"

namespace tributary::canary {

// Canary goes over UDP (destination port in the range) or directly over Ethernet. Job and block are
// the key of a packet; 0 if it is too short for its header.
extern const engine::EngineKind engine_kind;

}  // namespace tributary::canary
