// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/plain_feed.h"

#include "traffic/neighbours.h"
#include "traffic/pacer.h"

namespace tributary::traffic {

void feed_plain(const PlainPlan& plan, std::uint64_t frames, const Feed& feed) {
  const Neighbours neighbours(feed.stations, feed.pool);
  PlainTraffic traffic(plan, feed.stations, neighbours, feed.pool);
  Pacer pacer;
  pacer.start({}, Time{});
  Outbox out(feed.stations.ports());
  for (std::uint64_t i = 0; i < frames; ++i) {
    traffic.send(1, Time{}, pacer, out);
    for (auto& queue : out) {
      while (const auto packet = queue.pop()) {
        feed.take(0, *packet);
      }
    }
  }
}

}  // namespace tributary::traffic
