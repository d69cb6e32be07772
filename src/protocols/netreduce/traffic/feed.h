// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "protocols/netreduce/traffic/frames.h"
#include "protocols/netreduce/wire.h"
#include "traffic/feed.h"

namespace tributary::netreduce {

// Feeds aggregation that can be replayed for ever: as many runs of all rings, of so many messages
// each, that a switch has forgotten the first when that comes again. It knows the one that it
// serves, and one before for each path MTU.
inline constexpr std::uint32_t netreduce_runs = 2 + wire::ring_mtus.size();
void feed_netreduce(const TrafficPlan& plan, std::uint32_t messages, const traffic::Feed& feed);

}  // namespace tributary::netreduce
