// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "protocols/canary/traffic/traffic.h"
#include "traffic/feed.h"
#include "wire/ipv4.h"

namespace tributary::canary {

// Feeds aggregation that can be replayed for ever, without anybody who answers: for every group of
// blocks first the contributions of all workers but the leader, then, for each block, its result,
// addressed to the switch, which frees the block's descriptor. So the same blocks can begin again
// when the file does.
void feed_canary(const TrafficPlan& plan, std::uint32_t blocks, wire::Ipv4Address switch_address,
                 const traffic::Feed& feed);

}  // namespace tributary::canary
