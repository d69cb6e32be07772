// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <vector>

#include "dataplane/handover.h"
#include "dataplane/topology.h"
#include "forwarding/flow_control.h"
#include "forwarding/occupancy.h"

struct rte_mempool;

namespace tributary::dataplane {

// All cores see this of each other: whether somebody is at work and may hand something over.
struct alignas(64) CorePulse {
  std::atomic<bool> busy{false};
};

// Gauges say how full every egress queue is, by switch and port; the cores that own the queues
// write them.
using Gauges = std::vector<std::vector<forwarding::QueueGauge>>;
// Buffers say, by switch and port, what is charged to a port, and what its neighbour asked for.
using Buffers = std::vector<std::vector<forwarding::PortBuffer>>;

// This says which packet core it is, and has what all of them share, which outlives it.
struct CoreSetup {
  unsigned core = 0;
  unsigned cores = 1;
  unsigned cpu = 0;
  const Topology* topology = nullptr;
  const HandoverRings* rings = nullptr;
  rte_mempool* mempool = nullptr;
  std::vector<CorePulse>* pulses = nullptr;
  Gauges* gauges = nullptr;
  Buffers* buffers = nullptr;
};

}  // namespace tributary::dataplane
