// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/traffic/feed.h"

#include <vector>

#include "protocols/flare/traffic/frames.h"
#include "protocols/flare/traffic/sparse_frames.h"
#include "protocols/flare/traffic/sparse_values.h"
#include "traffic/block_values.h"

namespace tributary::flare {
namespace {

// Calls `send(job, position, rank)` of what all workers send, in its order.
template <typename Send>
void for_each_contribution(const traffic::TreePlan& plan, const FlareSeries& series, Send send) {
  for (std::uint32_t run = 0; run < series.runs; ++run) {
    for (std::uint64_t block = 0; block < series.blocks; ++block) {
      for (std::uint32_t job = 0; job < plan.jobs; ++job) {
        for (std::uint32_t rank = 0; rank < plan.workers; ++rank) {
          send(job, FlarePosition{plan.run + run, block}, rank);
        }
      }
    }
  }
}

}  // namespace

void feed_flare(const traffic::TreePlan& plan, const FlareSeries& series,
                const traffic::Feed& feed) {
  const traffic::TreePlaces places(plan, feed.stations.ports());
  std::vector<traffic::BlockValues> values;
  for (const auto& kind : plan.kinds) {
    values.emplace_back(kind.type, kind.op, plan.workers, plan.elements);
  }
  std::vector<FlareFrames> jobs;
  for (std::uint32_t job = 0; job < plan.jobs; ++job) {
    jobs.emplace_back(plan, places, feed.stations, job);
  }
  for_each_contribution(
      plan, series, [&](std::uint32_t job, const FlarePosition& at, std::uint32_t rank) {
        feed.put(places.port_of(job, rank), [&](Packet& packet) {
          jobs[job].contribution(packet, at, rank, 0, values[job % values.size()]);
        });
      });
}

void feed_flare_sparse(const traffic::TreePlan& plan, const SparsePlan& sparse,
                       const FlareSeries& series, const traffic::Feed& feed) {
  const traffic::TreePlaces places(plan, feed.stations.ports());
  std::vector<SparseValues> values;
  for (const auto& kind : plan.kinds) {
    values.emplace_back(kind.type, plan.workers, sparse);
  }
  std::vector<FlareSparseFrames> jobs;
  for (std::uint32_t job = 0; job < plan.jobs; ++job) {
    jobs.emplace_back(plan, places, feed.stations, job, values[job % values.size()]);
  }
  for_each_contribution(
      plan, series, [&](std::uint32_t job, const FlarePosition& at, std::uint32_t rank) {
        for (std::uint32_t shard = 0; shard < jobs[job].values().shards(); ++shard) {
          feed.put(places.port_of(job, rank),
                   [&](Packet& packet) { jobs[job].contribution(packet, at, rank, shard, 0); });
        }
      });
}

}  // namespace tributary::flare
