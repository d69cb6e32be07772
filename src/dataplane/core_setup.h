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

// What all cores see of each other: whether somebody is at work and may hand something over.
struct alignas(64) CorePulse {
  std::atomic<bool> busy{false};
};

// How full every egress queue is, by switch and port: written by the cores that own the queues.
using Gauges = std::vector<std::vector<forwarding::QueueGauge>>;
// What is charged to every port, and what its neighbour asked for, by switch and port.
using Buffers = std::vector<std::vector<forwarding::PortBuffer>>;

// Which packet core it is, and what all of them share, which outlives it.
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
