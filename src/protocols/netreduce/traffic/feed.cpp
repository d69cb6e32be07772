// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/traffic/feed.h"

#include <vector>

#include "traffic/block_values.h"
#include "traffic/neighbours.h"
#include "traffic/ranks.h"

namespace tributary::netreduce {
namespace {

// Returns the places of one run, in groups that each worker sends before the next one does. Message
// 0 is a group by itself.
std::vector<std::vector<NetReducePlace>> turns_of(const TrafficPlan& plan, std::uint32_t messages) {
  std::vector<std::vector<NetReducePlace>> turns = {{NetReducePlace{}}, {}};
  std::uint64_t sequence = 0;
  for (std::uint32_t message = 1; message < messages; ++message) {
    for (std::uint32_t offset = 0; offset < plan.message_packets; ++offset) {
      if (turns.back().size() == plan.interleave) {
        turns.emplace_back();
      }
      turns.back().push_back({0, message, offset, ++sequence});
    }
  }
  return turns;
}

}  // namespace

void feed_netreduce(const TrafficPlan& plan, std::uint32_t messages, const traffic::Feed& feed) {
  const traffic::Neighbours neighbours(feed.stations, feed.pool);
  const traffic::Ranks ranks(feed.stations, plan.workers);
  std::vector<traffic::BlockValues> values;
  for (const auto& kind : plan.kinds) {
    values.emplace_back(kind.type, kind.op, plan.workers, plan.elements(kind.type));
  }
  for (std::uint32_t run = 0; run < netreduce_runs; ++run) {
    for (const auto& turn : turns_of(plan, messages)) {
      for (std::uint32_t job = 0; job < plan.jobs; ++job) {
        const NetReduceFrames frames(plan, ranks, neighbours, job);
        const auto& numbers = values[job % values.size()];
        for (std::uint32_t rank = 0; rank < plan.workers; ++rank) {
          for (auto place : turn) {
            place.run = plan.first_run + run;
            feed.put(0, [&](Packet& packet) { frames.gradient(packet, place, rank, numbers); });
          }
        }
      }
    }
  }
}

}  // namespace tributary::netreduce
