// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tributary {

// Machines with several ranks each, as appendix A of the NetReduce paper models them (table 4).
struct Cluster {
  std::uint32_t ranks = 2;                 // P: of all machines; a multiple of ranks_per_machine
  std::uint32_t ranks_per_machine = 1;     // n
  double hop_latency_s = 0;                // alpha: to prepare and pass on one piece
  double intra_bandwidth_bytes_per_s = 1;  // between the ranks of a machine
  double inter_bandwidth_bytes_per_s = 1;  // of a machine's link to the network
};

// These return how long an allreduce of `bytes` per rank takes, in seconds.

// Equation 1: one ring of all ranks.
double flat_ring_seconds(const Cluster& cluster, double bytes);
// Equation 2: Rabenseifner's reduce to one rank of each machine, a ring of those, van de Geijn's
// broadcast. n is taken for a power of two. (In the paper's first line of the equation the reduce
// is divided by n once too often; its sum, and equation 4, are without that, and so is this.)
double tencent_seconds(const Cluster& cluster, double bytes);
// Equation 3: reduce-scatter in each machine, n rings through switches that add, all-gather.
double parallel_seconds(const Cluster& cluster, double bytes);

}  // namespace tributary
