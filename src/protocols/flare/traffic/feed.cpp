// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/traffic/feed.h"

#include <vector>

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

}  // namespace

void feed_flare(const traffic::TreePlan& plan, const traffic::Stations& stations, PacketPool& pool,
                std::uint32_t runs, std::uint64_t blocks, const traffic::FileSink& sink) {
  const FlareFeed feed(plan, stations, pool);
  for (std::uint32_t run = 0; run < runs; ++run) {
    for (std::uint64_t block = 0; block < blocks; ++block) {
      feed.packets({plan.run + run, block}, sink);
    }
  }
}

}  // namespace tributary::flare
