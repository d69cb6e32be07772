// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/traffic/feed.h"

#include <memory>
#include <vector>

#include "protocols/flare/traffic/frames.h"
#include "protocols/flare/traffic/sparse_frames.h"
#include "protocols/flare/traffic/sparse_values.h"
#include "traffic/block_values.h"

namespace tributary::flare {
namespace {

// The trees of all jobs.
class FlareFeed {
 public:
  FlareFeed(const traffic::TreePlan& plan, const traffic::Stations& stations, PacketPool& pool)
      : plan_(plan), places_(plan, stations.ports()), pool_(pool) {
    for (const auto& kind : plan.kinds) {
      values_.emplace_back(kind.type, kind.op, plan.workers, plan.elements);
    }
    for (std::uint32_t job = 0; job < plan.jobs; ++job) {
      jobs_.emplace_back(plan, places_, stations, job);
    }
  }

  // What all workers of all jobs send of one block.
  void packets(const FlarePosition& at, const traffic::FileSink& sink) const {
    for (std::uint32_t job = 0; job < plan_.jobs; ++job) {
      for (std::uint32_t rank = 0; rank < plan_.workers; ++rank) {
        const auto packet = pool_.allocate();
        jobs_[job].contribution(*packet, at, rank, 0, values_[job % values_.size()]);
        sink(places_.port_of(job, rank), *packet);
      }
    }
  }

 private:
  const traffic::TreePlan& plan_;
  traffic::TreePlaces places_;
  PacketPool& pool_;
  std::vector<traffic::BlockValues> values_;
  std::vector<FlareFrames> jobs_;
};

// Of sparse blocks.
class FlareSparseFeed {
 public:
  FlareSparseFeed(const traffic::TreePlan& plan, const SparsePlan& sparse,
                  const traffic::Stations& stations, PacketPool& pool)
      : plan_(plan), places_(plan, stations.ports()), pool_(pool) {
    for (const auto& kind : plan.kinds) {
      values_.push_back(std::make_unique<SparseValues>(kind.type, plan.workers, sparse));
    }
    for (std::uint32_t job = 0; job < plan.jobs; ++job) {
      jobs_.emplace_back(plan, places_, stations, job, *values_[job % values_.size()]);
    }
  }

  void packets(const FlarePosition& at, const traffic::FileSink& sink) const {
    for (std::uint32_t job = 0; job < plan_.jobs; ++job) {
      for (std::uint32_t rank = 0; rank < plan_.workers; ++rank) {
        for (std::uint32_t shard = 0; shard < jobs_[job].values().shards(); ++shard) {
          const auto packet = pool_.allocate();
          jobs_[job].contribution(*packet, at, rank, shard, 0);
          sink(places_.port_of(job, rank), *packet);
        }
      }
    }
  }

 private:
  const traffic::TreePlan& plan_;
  traffic::TreePlaces places_;
  PacketPool& pool_;
  std::vector<std::unique_ptr<SparseValues>> values_;  // by kind
  std::vector<FlareSparseFrames> jobs_;
};

template <typename Feed>
void feed_runs(const Feed& feed, std::uint32_t first, std::uint32_t runs, std::uint64_t blocks,
               const traffic::FileSink& sink) {
  for (std::uint32_t run = 0; run < runs; ++run) {
    for (std::uint64_t block = 0; block < blocks; ++block) {
      feed.packets({first + run, block}, sink);
    }
  }
}

}  // namespace

void feed_flare(const traffic::TreePlan& plan, const traffic::Stations& stations, PacketPool& pool,
                std::uint32_t runs, std::uint64_t blocks, const traffic::FileSink& sink) {
  feed_runs(FlareFeed(plan, stations, pool), plan.run, runs, blocks, sink);
}

void feed_flare_sparse(const traffic::TreePlan& plan, const SparsePlan& sparse,
                       const traffic::Stations& stations, PacketPool& pool, std::uint32_t runs,
                       std::uint64_t blocks, const traffic::FileSink& sink) {
  feed_runs(FlareSparseFeed(plan, sparse, stations, pool), plan.run, runs, blocks, sink);
}

}  // namespace tributary::flare
