// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/traffic/feed.h"

#include <vector>

#include <gtest/gtest.h>

#include "protocols/panama/engine/config.h"
#include "support/switch_bench.h"
#include "support/traffic_bench.h"

namespace tributary::panama {
namespace {

using test::figure;
using test::Ip;
using test::mac;

constexpr std::uint8_t hosts = 8;

// A root with a port for each worker, and memory for no more than each tree's initial window.
switching::SwitchConfig fed_root(const TrafficPlan& plan) {
  switching::SwitchConfig config;
  config.name = "s";
  config.id = 1;
  config.address = Ip{10, 255, 0, 1};
  config.protocols.emplace<PanamaConfig>();
  config.protocols.get<PanamaConfig>().packet_memory = plan.jobs * plan.trees * initial_window;
  std::vector<PortIndex> children;
  for (std::uint8_t port = 0; port < plan.workers; ++port) {
    config.ports.push_back(test::bridged_port("feed" + std::to_string(port), port));
    children.push_back(port);
  }
  for (std::uint32_t i = 0; i < plan.jobs * plan.trees; ++i) {
    config.protocols.get<PanamaConfig>().trees.push_back(
        {{plan.first_job + i / plan.trees, wire::Ipv4Address(plan.group.value() + i), children,
          std::nullopt, plan.workers, plan.workers},
         static_cast<std::uint16_t>(i % plan.trees),
         plan.workers});
  }
  return config;
}

TEST(FeedPanama, CanBeReplayedForEver) {
  constexpr std::uint64_t burst = 32;
  constexpr std::uint64_t passes = 3;
  std::vector<traffic::StationRange> ranges;
  for (std::uint8_t port = 0; port < hosts; ++port) {
    ranges.push_back({mac(1, port), Ip{10, 0, port, 1}, 1, {}, {}});
  }
  test::Bench bench(ranges);
  TrafficPlan plan;
  plan.workers = hosts;
  plan.jobs = 8;
  plan.trees = 2;
  plan.group = Ip{239, 192, 0, 1};
  plan.collective = 4;
  test::SwitchNetwork network(fed_root(plan), bench.pool, bench.now);
  test::Files files(hosts);
  feed_panama(plan, panama_collectives_min, test::feed_of(bench, files));
  const auto frames =
      std::uint64_t{plan.jobs} * plan.trees * plan.collective * panama_collectives_min;
  // The end of the last tree's last collective is lost once: there is no pause in which the switch
  // would take an older one.
  const auto lost = frames - 1;
  // Takes a burst of each port, as a core does.
  for (std::uint64_t first = 0; first < passes * frames; first += burst) {
    for (std::size_t port = 0; port < hosts; ++port) {
      ASSERT_EQ(files[port].size(), frames);
      for (auto i = first; i < first + burst; ++i) {
        if (port != 3 || i != lost) {
          test::replay(files[port][i % frames], port, network, bench);
        }
      }
    }
  }
  EXPECT_EQ(figure(network, "contributions_total"), passes * frames * hosts - 1);
  EXPECT_EQ(figure(network, "results_total"), passes * frames - 1);
  EXPECT_EQ(figure(network, "trees_active"), 0u);
  EXPECT_EQ(network.device().ledger().dropped(), 0u);
}

}  // namespace
}  // namespace tributary::panama
