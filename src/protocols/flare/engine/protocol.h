// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/kind.h"

namespace tributary::flare {

// The engine takes IPv4, UDP and Flare's port. The key of a packet is its job and the flow of its
// block, so that a job's blocks are spread over cores and each of them meets on one; 0 if the
// packet is too short for its header.
extern const engine::EngineKind engine_kind;

}  // namespace tributary::flare
