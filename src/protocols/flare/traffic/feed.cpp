// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/traffic/feed.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "engine/spreading.h"
#include "protocols/flare/traffic/frames.h"
#include "protocols/flare/traffic/sparse_frames.h"
#include "protocols/flare/traffic/sparse_values.h"
#include "protocols/flare/wire.h"
#include "traffic/block_values.h"

namespace tributary::flare {
namespace {

// Tells to which core's file the blocks of a run go.
class FilesOfCores {
 public:
  FilesOfCores(const traffic::TreePlan& plan, const FlareSeries& series)
      : plan_(plan), cores_(series.cores), whole_(cores_), next_(cores_) {
    for (std::uint64_t block = 0; block < series.blocks; ++block) {
      for (std::uint32_t job = 0; job < plan.jobs; ++job) {
        ++whole_[owner_of(job, block)];
      }
    }
    for (auto& blocks : whole_) {
      blocks -= cores_ == 1 ? 0 : blocks % burst;
    }
  }

  void begin_run() { std::fill(next_.begin(), next_.end(), 0); }
  // Returns no value if the block is left out.
  std::optional<unsigned> next(std::uint32_t job, std::uint64_t block) {
    const auto core = owner_of(job, block);
    return next_[core]++ < whole_[core] ? std::optional(core) : std::nullopt;
  }

 private:
  static constexpr std::size_t burst = 32;

  unsigned owner_of(std::uint32_t job, std::uint64_t block) const {
    const auto flow = wire::flare_flow_of(block, plan_.window);
    return engine::owner_of(wire::flare_key(plan_.first_job + job, flow), cores_);
  }

  const traffic::TreePlan& plan_;
  unsigned cores_;
  std::vector<std::size_t> whole_;  // blocks of a run, by core
  std::vector<std::size_t> next_;
};

// Calls `send(job, position, rank, core)` for what all workers send, in its order.
template <typename Send>
void for_each_contribution(const traffic::TreePlan& plan, const FlareSeries& series, Send send) {
  FilesOfCores files(plan, series);
  for (std::uint32_t run = 0; run < series.runs; ++run) {
    files.begin_run();
    for (std::uint64_t block = 0; block < series.blocks; ++block) {
      for (std::uint32_t job = 0; job < plan.jobs; ++job) {
        const auto core = files.next(job, block);
        for (std::uint32_t rank = 0; core && rank < plan.workers; ++rank) {
          send(job, FlarePosition{plan.run + run, block}, rank, *core);
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
      plan, series,
      [&](std::uint32_t job, const FlarePosition& at, std::uint32_t rank, unsigned core) {
        feed.put(places.port_of(job, rank) * series.cores + core, [&](Packet& packet) {
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
      plan, series,
      [&](std::uint32_t job, const FlarePosition& at, std::uint32_t rank, unsigned core) {
        for (std::uint32_t shard = 0; shard < jobs[job].values().shards(); ++shard) {
          feed.put(places.port_of(job, rank) * series.cores + core,
                   [&](Packet& packet) { jobs[job].contribution(packet, at, rank, shard, 0); });
        }
      });
}

}  // namespace tributary::flare
