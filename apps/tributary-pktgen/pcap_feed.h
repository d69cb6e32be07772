// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "canary_traffic.h"
#include "netreduce_frames.h"
#include "packet/pool.h"
#include "panama_frames.h"
#include "plain_traffic.h"
#include "stations.h"

namespace tributary::pktgen {

// Takes one frame of a file; the packet stays with the caller.
using Sink = std::function<void(Packet& frame)>;
// The same, of the file for one port.
using PortSink = std::function<void(std::size_t port, Packet& frame)>;

// So many plain frames, as they would be sent.
void feed_plain(const PlainPlan& plan, const Stations& stations, PacketPool& pool,
                std::uint64_t frames, const Sink& sink);

// Aggregation that can be replayed for ever, without anybody who answers: for every group of blocks
// first the contributions of all workers but the leader, then, for each block, its result,
// addressed to the switch, which frees the block's descriptor. So the same blocks can begin again
// when the file does.
void feed_canary(const CanaryPlan& plan, const Stations& stations, PacketPool& pool,
                 std::uint32_t blocks, wire::Ipv4Address switch_address, const Sink& sink);

// The same with PANAMA, for a switch that is the root: a file for each port, with as many frames in
// all. First the first packets of all trees, then the next of all, so that no tree ever needs more
// memory than it owns; so many collectives of all trees, more than a switch remembers. Their
// numbers go round the circle, so that the first is newer than the last when the files begin again.
inline constexpr std::uint32_t panama_collectives_min = 9;
void feed_panama(const PanamaPlan& plan, const Stations& stations, PacketPool& pool,
                 std::uint32_t collectives, const PortSink& sink);

// The same with NetReduce: five runs of all rings, because a switch takes up any run but the one
// that it serves and the three before; of so many messages each.
inline constexpr std::uint32_t netreduce_runs = 5;
void feed_netreduce(const NetReducePlan& plan, const Stations& stations, PacketPool& pool,
                    std::uint32_t messages, const Sink& sink);

}  // namespace tributary::pktgen
