// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/plain_feed.h"

#include "traffic/neighbours.h"
#include "traffic/pacer.h"

namespace tributary::traffic {

void feed_plain(const PlainPlan& plan, const Stations& stations, PacketPool& pool,
                std::uint64_t frames, const Sink& sink) {
  const Neighbours neighbours(stations, pool);
  PlainTraffic traffic(plan, stations, neighbours, pool);
  Pacer pacer;
  pacer.start({}, Time{});
  Outbox out(stations.ports());
  for (std::uint64_t i = 0; i < frames; ++i) {
    traffic.send(1, Time{}, pacer, out);
    for (auto& queue : out) {
      while (const auto packet = queue.pop()) {
        sink(*packet);
      }
    }
  }
}

}  // namespace tributary::traffic
