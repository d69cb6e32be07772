// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "canary_traffic.h"
#include "packet/pool.h"
#include "plain_traffic.h"
#include "stations.h"

namespace tributary::pktgen {

// Takes one frame of a file; the packet stays with the caller.
using Sink = std::function<void(Packet& frame)>;

// So many plain frames, as they would be sent.
void feed_plain(const PlainPlan& plan, const Stations& stations, PacketPool& pool,
                std::uint64_t frames, const Sink& sink);

// Aggregation that can be replayed for ever, without anybody who answers: for every group of blocks
// first the contributions of all workers but the leader, then, for each block, its result,
// addressed to the switch, which frees the block's descriptor. So the same blocks can begin again
// when the file does.
void feed_canary(const CanaryPlan& plan, const Stations& stations, PacketPool& pool,
                 std::uint32_t blocks, wire::Ipv4Address switch_address, const Sink& sink);

}  // namespace tributary::pktgen
