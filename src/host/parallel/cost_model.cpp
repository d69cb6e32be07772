// SPDX-License-Identifier: BSD-3-Clause
#include "host/parallel/cost_model.h"

#include <cmath>

namespace tributary {
namespace {

// An allreduce over a ring goes around it twice, each time but for one step.
double ring_seconds(double members, double hop_latency_s, double bytes, double bandwidth) {
  return 2 * (members - 1) * hop_latency_s + 2 * (members - 1) / members * bytes / bandwidth;
}

}  // namespace

double flat_ring_seconds(const Cluster& cluster, double bytes) {
  return ring_seconds(cluster.ranks, cluster.hop_latency_s, bytes,
                      cluster.inter_bandwidth_bytes_per_s);
}

double tencent_seconds(const Cluster& cluster, double bytes) {
  const double n = cluster.ranks_per_machine;
  const double alpha = cluster.hop_latency_s;
  const double moved_s = 2 * (n - 1) / n * bytes / cluster.intra_bandwidth_bytes_per_s;
  const double reduce_s = 2 * alpha * std::log2(n) + moved_s;
  const double broadcast_s = (std::log2(n) + n - 1) * alpha + moved_s;
  return reduce_s +
         ring_seconds(cluster.ranks / n, alpha, bytes, cluster.inter_bandwidth_bytes_per_s) +
         broadcast_s;
}

double parallel_seconds(const Cluster& cluster, double bytes) {
  const double n = cluster.ranks_per_machine;
  const double alpha = cluster.hop_latency_s;
  const double scatter_s =
      (n - 1) * alpha + (n - 1) / n * bytes / cluster.intra_bandwidth_bytes_per_s;
  const double in_network_s = alpha + bytes / cluster.inter_bandwidth_bytes_per_s;
  return scatter_s + in_network_s + scatter_s;
}

}  // namespace tributary
