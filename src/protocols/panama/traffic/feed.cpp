// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/traffic/feed.h"

#include <vector>

#include "traffic/block_values.h"

namespace tributary::panama {
namespace {

// The trees of all jobs.
class PanamaFeed {
 public:
  PanamaFeed(const TrafficPlan& plan, const traffic::Stations& stations, PacketPool& pool)
      : plan_(plan), places_(plan, stations.ports()), pool_(pool) {
    for (const auto& kind : plan.kinds) {
      values_.emplace_back(kind.type, kind.op, plan.workers, plan.elements);
    }
    for (std::uint32_t job = 0; job < plan.jobs; ++job) {
      for (std::uint16_t tree = 0; tree < plan.trees; ++tree) {
        trees_.emplace_back(plan, places_, stations, job, tree);
      }
    }
  }

  // What all workers send to all trees.
  void packets(const PanamaPosition& at, const traffic::FileSink& sink) const {
    for (std::size_t i = 0; i < trees_.size(); ++i) {
      const auto job = static_cast<std::uint32_t>(i / plan_.trees);
      for (std::uint32_t rank = 0; rank < plan_.workers; ++rank) {
        const auto packet = pool_.allocate();
        trees_[i].contribution(*packet, at, rank, values_[job % values_.size()]);
        sink(places_.port_of(job, rank), *packet);
      }
    }
  }

 private:
  const TrafficPlan& plan_;
  traffic::TreePlaces places_;
  PacketPool& pool_;
  std::vector<traffic::BlockValues> values_;
  std::vector<PanamaFrames> trees_;
};

}  // namespace

void feed_panama(const TrafficPlan& plan, const traffic::Stations& stations, PacketPool& pool,
                 std::uint32_t collectives, const traffic::FileSink& sink) {
  const PanamaFeed feed(plan, stations, pool);
  const auto step = static_cast<std::uint32_t>((std::uint64_t{1} << 32) / collectives);
  for (std::uint32_t collective = 0; collective < collectives; ++collective) {
    for (std::uint32_t vid = 0; vid < plan.collective; ++vid) {
      feed.packets({collective * step, vid}, sink);
    }
  }
}

}  // namespace tributary::panama
