// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "protocols/netreduce/traffic/frames.h"
#include "traffic/feed.h"

namespace tributary::netreduce {

// Feeds aggregation that can be replayed for ever: five runs of all rings, of so many messages
// each, because a switch takes up any run but the one that it serves and the three before.
inline constexpr std::uint32_t netreduce_runs = 5;
void feed_netreduce(const TrafficPlan& plan, std::uint32_t messages, const traffic::Feed& feed);

}  // namespace tributary::netreduce
