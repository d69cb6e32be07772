// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/kind.h"

namespace tributary::netreduce {

// The engine takes the requests of Reliable Connections, over IPv4 or IPv6: what may be a gradient,
// and what must not overtake that on its queue pair. All else of RoCE, and that of other services,
// is ordinary UDP. All requests have the same key: only the first packet of a message tells its
// ring, and connections of one pair of hosts may belong to several. So all requests meet on one
// core, and keep their order there.
extern const engine::EngineKind engine_kind;

}  // namespace tributary::netreduce
