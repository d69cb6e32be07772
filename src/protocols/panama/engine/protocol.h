// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/kind.h"

namespace tributary::panama {

// The engine takes IPv4 with DSCP 56 (section 5), UDP, and PANAMA's port: DSCP 56 alone is class
// selector 7, which routing protocols use. Job and tree are the key of a packet; 0 if it is too
// short for its header.
extern const engine::EngineKind engine_kind;

}  // namespace tributary::panama
