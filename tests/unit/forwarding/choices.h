// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "forwarding/policy.h"
#include "forwarding/route_table.h"

namespace tributary::forwarding {

// One next-hop group whose next hops are behind ports 0, 1, ..., and their queues.
class Choices {
 public:
  static constexpr std::uint64_t capacity = 1000;

  explicit Choices(PortIndex hops, std::uint64_t tree_seed = 1)
      : gauges_(hops), queues_(gauges_, hops), table_({route(hops)}, tree_seed) {
    for (auto& gauge : gauges_) {
      gauge.publish_capacity(capacity);
    }
    flowlets_.reset(true);
  }

  std::size_t choose(Policy policy, const Flow& flow) {
    return row_of(policy).choose({group(), flow, now, config, queues_, flowlets_});
  }
  void fill(PortIndex port, std::uint64_t bytes) { gauges_[port].publish_bytes(bytes); }
  void limit(PortIndex port, std::uint64_t bytes) { gauges_[port].publish_capacity(bytes); }
  void pace(PortIndex port, std::uint64_t rate_bps) { gauges_[port].publish_rate(rate_bps); }
  void set_up(PortIndex port, bool up) { table_.set_interface_up(port, up); }
  // Fills the queue behind that hop.
  void crowd(PortIndex port) {
    table_.set_unhealthy({{group().route.next_hops[port].via, Ailment::crowded}});
  }
  Occupancy& queues() { return queues_; }
  NextHopGroup& group() { return *table_.find(wire::Ipv4Address(8, 8, 8, 8)); }
  const SelectionCounters& counters() { return group().counters; }

  Time now = Time{} + std::chrono::seconds(1000);
  SelectionConfig config;

 private:
  static Route route(PortIndex hops) {
    Route route;
    for (PortIndex port = 0; port < hops; ++port) {
      route.next_hops.push_back(
          {wire::Ipv4Address(10, 0, 0, static_cast<std::uint8_t>(port + 1)), port});
    }
    return route;
  }

  std::vector<QueueGauge> gauges_;
  Occupancy queues_;
  RouteTable table_;
  FlowletTable flowlets_;
};

// A hash that pick() maps to `hop` of `hops`.
constexpr Flow flow_to(std::size_t hop, std::size_t hops, std::uint32_t low = 0) {
  return {
      static_cast<std::uint32_t>(((std::uint64_t{hop} << 32) + (std::uint64_t{1} << 31)) / hops) +
          low,
      0};
}

}  // namespace tributary::forwarding
