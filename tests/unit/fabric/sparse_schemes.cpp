// SPDX-License-Identifier: BSD-3-Clause
#include "unit/fabric/sparse_schemes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "host/ring/schedule.h"
#include "host/ring/sparse_schedule.h"
#include "host/sparse_part.h"
#include "host/sparse_vector.h"
#include "support/fat_tree.h"
#include "unit/fabric/flare_workers.h"
#include "unit/fabric/stream_ring.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;

constexpr Duration patience = 100s;

// A tree uses only one spine, its root.
FabricSpec fabric_of(const Cluster& cluster) {
  FatTree shape;
  shape.leaves = cluster.leaves;
  shape.hosts_per_leaf = cluster.hosts_per_leaf;
  shape.spines = 1;
  auto spec = make_fat_tree(shape);
  spec.cable_delay = cluster.cable_delay;
  spec.cable_rate_bps = cluster.rate_bps;
  for (auto& host : spec.hosts) {
    host.rate_bps = cluster.rate_bps;
  }
  return spec;
}

// Ranks of Flare on all hosts of a cluster, each of which makes one call.
class FlareCluster {
 public:
  explicit FlareCluster(const Cluster& cluster)
      : options_{.world_size = cluster.hosts(),
                 .root = cluster.leaves,
                 .window = 256,
                 .sparse_window = 64,
                 .payload_bytes = 1408},
        pool_(262144, VirtualFabric::frame_bytes_max),
        fabric_(FlareWorkers::set_up_tree(fabric_of(cluster), options_), &pool_),
        workers_(fabric_, options_) {
    fabric_.trace(
        [this](const Hop& hop) { cost_.line_bytes += forwarding::line_bytes(hop.frame.size()); });
  }

  void begin(std::uint32_t rank, const host::Call& call) {
    workers_.machine(rank).begin(call, fabric_.host_now(), fabric_.host_now() + patience);
    fabric_.wake(rank);
  }
  // `exact` says whether all ranks ended, and nothing had to be sent twice.
  Cost run() {
    const auto begun = fabric_.now();
    fabric_.run(patience);
    cost_.time = fabric_.now() - begun;
    cost_.exact = workers_.all_done() && workers_.sent_again() == 0;
    return cost_;
  }

 private:
  FlareWorkers::Options options_;
  HeapPacketPool pool_;
  VirtualFabric fabric_;
  FlareWorkers workers_;
  Cost cost_;
};

// The sums of all chunks, each a part of the vector, and what ranks send for them.
struct Scattered {
  std::vector<std::uint64_t> sent;      // by rank, line bytes
  std::vector<std::uint64_t> received;  // likewise
  std::vector<std::uint64_t> sums;      // bytes, by chunk
  std::uint64_t line_bytes = 0;         // over all links
};

Scattered scatter(const Cluster& cluster, const SparseInputs& inputs, bool dense_sums) {
  const std::size_t ranks = cluster.hosts();
  Scattered all{std::vector<std::uint64_t>(ranks), std::vector<std::uint64_t>(ranks), {}, 0};
  const auto count = inputs.draw().count;
  for (std::size_t chunk = 0; chunk < ranks; ++chunk) {
    const auto first = count * chunk / ranks;
    const host::SparseRange range{first, count * (chunk + 1) / ranks - first};
    host::SparsePart sum(inputs.of(static_cast<std::uint32_t>(chunk)), range);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (rank == chunk) {
        continue;
      }
      const host::SparsePart part(inputs.of(static_cast<std::uint32_t>(rank)), range);
      const auto bytes = message_line_bytes(part.bytes().size());
      all.sent[rank] += bytes;
      all.received[chunk] += bytes;
      all.line_bytes += bytes * cluster.links(rank, chunk);
      sum.add(part);
    }
    all.sums.push_back(dense_sums ? host::SparsePart::header_bytes + range.count * sizeof(float)
                                  : sum.bytes().size());
  }
  return all;
}

// The time until the last segment that is sent has arrived.
Duration last_way(const Cluster& cluster, unsigned links) {
  return links * cluster.cable_delay +
         (links - 1) * cluster.on_line(segment_line_bytes(segment_bytes_max));
}

}  // namespace

// All ranks have the same vector, and only the ranks look at it.
Cost flare_dense(const Cluster& cluster, std::size_t count) {
  const std::vector<float> in(count, 1);
  std::vector<float> out(count);
  FlareCluster flare(cluster);
  for (std::uint32_t rank = 0; rank < cluster.hosts(); ++rank) {
    flare.begin(rank, host::call_of(host::Collective::allreduce, in.data(), out.data(), count,
                                    wire::ElementType::f32, wire::Operator::sum));
  }
  auto cost = flare.run();
  cost.exact = cost.exact && std::all_of(out.begin(), out.end(), [&](float sum) {
                 return sum == static_cast<float>(cluster.hosts());
               });
  return cost;
}

Cost flare_sparse(const Cluster& cluster, const SparseInputs& inputs) {
  std::vector<SparseElements> sums(cluster.hosts());
  std::vector<host::SparseCall> calls;
  for (std::uint32_t rank = 0; rank < cluster.hosts(); ++rank) {
    calls.push_back({inputs.of(rank), &sums[rank]});
  }
  FlareCluster flare(cluster);
  for (std::uint32_t rank = 0; rank < cluster.hosts(); ++rank) {
    host::Call call;
    call.sparse = &calls[rank];
    flare.begin(rank, call);
  }
  auto cost = flare.run();
  cost.exact = cost.exact && std::all_of(sums.begin(), sums.end(),
                                         [&](const auto& sum) { return inputs.is_sum(sum); });
  return cost;
}

Cost ring_dense(const Cluster& cluster, std::size_t count) {
  const std::vector<float> in(count, 1);
  std::vector<std::vector<float>> out(cluster.hosts(), std::vector<float>(count));
  std::vector<host::RingSchedule> schedules;
  for (std::uint32_t rank = 0; rank < cluster.hosts(); ++rank) {
    const auto call = host::call_of(host::Collective::allreduce, in.data(), out[rank].data(), count,
                                    wire::ElementType::f32, wire::Operator::sum);
    schedules.emplace_back(call.buffers, rank, cluster.hosts());
  }
  StreamRing ring(cluster, std::move(schedules));
  Cost cost{{}, 0, ring.run()};
  cost.time = ring.time();
  cost.line_bytes = ring.line_bytes();
  for (const auto& own : out) {
    cost.exact = cost.exact && std::all_of(own.begin(), own.end(), [&](float sum) {
                   return sum == static_cast<float>(cluster.hosts());
                 });
  }
  return cost;
}

Cost ring_sparse(const Cluster& cluster, const SparseInputs& inputs) {
  std::vector<host::SparseSchedule> schedules;
  for (std::uint32_t rank = 0; rank < cluster.hosts(); ++rank) {
    schedules.emplace_back(inputs.of(rank), rank, cluster.hosts());
  }
  StreamRing ring(cluster, std::move(schedules));
  Cost cost{{}, 0, ring.run()};
  cost.time = ring.time();
  cost.line_bytes = ring.line_bytes();
  cost.exact = cost.exact && std::all_of(ring.streams().begin(), ring.streams().end(),
                                         [&](const auto& one) { return inputs.is_sum(one.sum()); });
  return cost;
}

Cost split_allgather(const Cluster& cluster, const SparseInputs& inputs, bool dense_sums) {
  const auto all = scatter(cluster, inputs, dense_sums);
  const std::size_t ranks = cluster.hosts();
  const auto busiest = std::max(*std::max_element(all.sent.begin(), all.sent.end()),
                                *std::max_element(all.received.begin(), all.received.end()));
  Cost cost{cluster.on_line(busiest) + last_way(cluster, ranks > cluster.hosts_per_leaf ? 4 : 2),
            all.line_bytes, true};
  auto gathered = all.sums;  // by rank: bytes of the sums that it has
  for (std::size_t apart = 1; apart < ranks; apart *= 2) {
    auto next = gathered;
    std::uint64_t longest = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const auto partner = rank ^ apart;
      const auto bytes = message_line_bytes(gathered[rank]);
      cost.line_bytes += bytes * cluster.links(rank, partner);
      longest = std::max(longest, bytes);
      next[partner] += gathered[rank];
    }
    cost.time += cluster.on_line(longest) + last_way(cluster, cluster.links(0, apart));
    gathered = std::move(next);
  }
  return cost;
}

}  // namespace tributary::test
