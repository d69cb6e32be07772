// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/traffic/feed.h"

#include <vector>

#include "traffic/block_values.h"

namespace tributary::panama {
namespace {

// Feeds the packets of the trees of all jobs.
class PanamaFeed {
 public:
  PanamaFeed(const TrafficPlan& plan, const traffic::Feed& feed)
      : plan_(plan), feed_(feed), places_(plan, feed.stations.ports()) {
    for (const auto& kind : plan.kinds) {
      values_.emplace_back(kind.type, kind.op, plan.workers, plan.elements);
    }
    for (std::uint32_t job = 0; job < plan.jobs; ++job) {
      for (std::uint16_t tree = 0; tree < plan.trees; ++tree) {
        trees_.emplace_back(plan, places_, feed.stations, job, tree);
      }
    }
  }

  // Puts in what all workers send to all trees.
  void packets(const PanamaPosition& at) const {
    for (std::size_t i = 0; i < trees_.size(); ++i) {
      const auto job = static_cast<std::uint32_t>(i / plan_.trees);
      for (std::uint32_t rank = 0; rank < plan_.workers; ++rank) {
        feed_.put(places_.port_of(job, rank), [&](Packet& packet) {
          trees_[i].contribution(packet, at, rank, values_[job % values_.size()]);
        });
      }
    }
  }

 private:
  const TrafficPlan& plan_;
  const traffic::Feed& feed_;
  traffic::TreePlaces places_;
  std::vector<traffic::BlockValues> values_;
  std::vector<PanamaFrames> trees_;
};

}  // namespace

void feed_panama(const TrafficPlan& plan, std::uint32_t collectives, const traffic::Feed& feed) {
  const PanamaFeed trees(plan, feed);
  const auto step = static_cast<std::uint32_t>((std::uint64_t{1} << 32) / collectives);
  for (std::uint32_t collective = 0; collective < collectives; ++collective) {
    for (std::uint32_t vid = 0; vid < plan.collective; ++vid) {
      trees.packets({collective * step, vid});
    }
  }
}

}  // namespace tributary::panama
