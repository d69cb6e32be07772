// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "forwarding/config.h"
#include "forwarding/flow_control.h"

namespace tributary::forwarding {

// Returns the rate of a port's line: that of its shaper, of its device, or the usual one.
std::uint64_t line_rate(const PortConfig& port);
// Returns the same where it is known, and 0 otherwise.
std::uint64_t known_rate(const PortConfig& port);

// Divides the queues of a switch among the ports with flow control, so that none loses a frame of
// theirs. Any of them may send to any queue, so each has a share of the smallest one: up to xoff,
// and behind it the headroom for what comes until its neighbour has ceased to send,
//
//     headroom = rate x reaction + 2 frames, and not less than the burst that a core takes at once.
//
// What comes by other ports or in other priorities, or is made here, has half of each queue, or an
// eighth if all ports hold back all that comes by them. In a switch with traffic classes this
// divides the part of the lossless ones, and the other classes keep theirs. All ports of a switch
// have the same classes.
FlowPlan plan_flow_control(std::span<const PortConfig> ports);

}  // namespace tributary::forwarding
