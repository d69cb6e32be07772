// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "host/roce/statistics.h"
#include "host/statistics.h"

namespace tributary {

// Counts what a communicator's NetReduce amounted to.
struct NetReduceStatistics {
  std::uint32_t ring = 0;
  std::uint64_t messages_sent = 0;
  RoceStatistics roce;  // all 0 over an RDMA device
};

ProtocolStatistics figures_of(const NetReduceStatistics& of);

}  // namespace tributary
