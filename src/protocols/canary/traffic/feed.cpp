// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/traffic/feed.h"

#include <algorithm>
#include <vector>

#include "protocols/canary/traffic/frames.h"
#include "traffic/block_values.h"
#include "traffic/neighbours.h"
#include "traffic/ranks.h"

namespace tributary::canary {
namespace {

// The blocks of one job.
class CanaryFeed {
 public:
  CanaryFeed(const TrafficPlan& plan, const CanaryJob& job, const traffic::Ranks& ranks,
             const CanaryFrames& frames, const traffic::Neighbours& neighbours, PacketPool& pool)
      : plan_(plan),
        job_(job),
        ranks_(ranks),
        frames_(frames),
        neighbours_(neighbours),
        pool_(pool),
        values_(job.type, job.op, job.hosts, job.elements) {}

  void group(std::uint32_t first, std::uint32_t count, wire::Ipv4Address switch_address,
             const traffic::Sink& sink) const {
    for (std::uint32_t rank = 0; rank < plan_.workers; ++rank) {
      for (std::uint32_t id = first; id < first + count; ++id) {
        if (leader_of(ranks_, id) != rank) {
          contribution(id, rank, sink);
        }
      }
    }
    for (std::uint32_t id = first; id < first + count; ++id) {
      const auto packet = pool_.allocate();
      frames_.result(*packet, job_, id, switch_address, next_hop(id), values_.sum(shift_of(id)));
      sink(*packet);
    }
  }

 private:
  std::uint32_t shift_of(std::uint32_t id) const { return id % traffic::BlockValues::shifts; }
  wire::MacAddress next_hop(std::uint32_t id) const {
    return neighbours_.next_hop(0, ranks_[leader_of(ranks_, id)].mac);
  }
  void contribution(std::uint32_t id, std::uint32_t rank, const traffic::Sink& sink) const {
    const auto packet = pool_.allocate();
    const auto shift = shift_of(id);
    frames_.contribution(*packet, job_, id, rank, next_hop(id), values_.part(rank, shift),
                         values_.part_crc(rank, shift));
    sink(*packet);
  }

  const TrafficPlan& plan_;
  CanaryJob job_;
  const traffic::Ranks& ranks_;
  const CanaryFrames& frames_;
  const traffic::Neighbours& neighbours_;
  PacketPool& pool_;
  traffic::BlockValues values_;
};

}  // namespace

void feed_canary(const TrafficPlan& plan, const traffic::Stations& stations, PacketPool& pool,
                 std::uint32_t blocks, wire::Ipv4Address switch_address,
                 const traffic::Sink& sink) {
  const traffic::Neighbours neighbours(stations, pool);
  const traffic::Ranks ranks(stations, plan.workers);
  const CanaryFrames frames(plan.encapsulation, ranks);
  std::vector<CanaryFeed> jobs;
  for (std::uint32_t j = 0; j < plan.jobs; ++j) {
    const auto& kind = plan.kinds[j % plan.kinds.size()];
    const CanaryJob job{plan.first_job + j, kind.type, kind.op, plan.elements, plan.workers};
    jobs.emplace_back(plan, job, ranks, frames, neighbours, pool);
  }
  for (std::uint32_t first = 0; first < blocks; first += plan.interleave) {
    for (const auto& job : jobs) {
      job.group(first, std::min(plan.interleave, blocks - first), switch_address, sink);
    }
  }
}

}  // namespace tributary::canary
