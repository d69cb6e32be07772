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

// Feeds the blocks of one job.
class CanaryFeed {
 public:
  CanaryFeed(const TrafficPlan& plan, const CanaryJob& job, const CanaryFrames& frames,
             const traffic::Neighbours& neighbours)
      : plan_(plan),
        job_(job),
        frames_(frames),
        neighbours_(neighbours),
        values_(job.type, job.op, job.hosts, job.elements) {}

  void group(std::uint32_t first, std::uint32_t count, wire::Ipv4Address switch_address,
             const traffic::Feed& feed) const {
    for (std::uint32_t rank = 0; rank < plan_.workers; ++rank) {
      for (std::uint32_t id = first; id < first + count; ++id) {
        if (leader_of(frames_.ranks(), id) != rank) {
          feed.put(0, [&](Packet& packet) { contribution(packet, id, rank); });
        }
      }
    }
    for (std::uint32_t id = first; id < first + count; ++id) {
      feed.put(0, [&](Packet& packet) {
        frames_.result(packet, block(id), switch_address, values_.sum(shift_of(id)));
      });
    }
  }

 private:
  std::uint32_t shift_of(std::uint32_t id) const { return id % traffic::BlockValues::shifts; }
  CanaryBlock block(std::uint32_t id) const {
    const auto& ranks = frames_.ranks();
    return {job_, id, neighbours_.next_hop(0, ranks[leader_of(ranks, id)].mac)};
  }
  void contribution(Packet& packet, std::uint32_t id, std::uint32_t rank) const {
    const auto shift = shift_of(id);
    frames_.contribution(packet, block(id), rank, values_.part(rank, shift),
                         values_.part_crc(rank, shift));
  }

  const TrafficPlan& plan_;
  CanaryJob job_;
  const CanaryFrames& frames_;
  const traffic::Neighbours& neighbours_;
  traffic::BlockValues values_;
};

}  // namespace

void feed_canary(const TrafficPlan& plan, std::uint32_t blocks, wire::Ipv4Address switch_address,
                 const traffic::Feed& feed) {
  const traffic::Neighbours neighbours(feed.stations, feed.pool);
  const traffic::Ranks ranks(feed.stations, plan.workers);
  const CanaryFrames frames(plan.encapsulation, ranks);
  std::vector<CanaryFeed> jobs;
  for (std::uint32_t j = 0; j < plan.jobs; ++j) {
    const auto& kind = plan.kinds[j % plan.kinds.size()];
    const CanaryJob job{plan.first_job + j, kind.type, kind.op, plan.elements, plan.workers};
    jobs.emplace_back(plan, job, frames, neighbours);
  }
  for (std::uint32_t first = 0; first < blocks; first += plan.interleave) {
    for (const auto& job : jobs) {
      job.group(first, std::min(plan.interleave, blocks - first), switch_address, feed);
    }
  }
}

}  // namespace tributary::canary
