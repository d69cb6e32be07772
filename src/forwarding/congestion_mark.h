// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "packet/packet.h"

namespace tributary::forwarding {

// Sets "congestion experienced" if the frame is IP and its endpoints understand it (RFC 3168).
bool mark_congestion(Packet& frame);

}  // namespace tributary::forwarding
