// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host/protocol.h"

namespace tributary::host {

// The protocol for several interfaces of each rank, as BCube(alpha, beta) or as a mesh. It has no
// engine on switches.
extern const HostProtocol cube_protocol;

}  // namespace tributary::host
