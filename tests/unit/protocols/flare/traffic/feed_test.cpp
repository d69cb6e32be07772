// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/traffic/feed.h"

#include <vector>

#include <gtest/gtest.h>

#include "protocols/flare/engine/config.h"
#include "support/switch_bench.h"
#include "support/traffic_bench.h"

namespace tributary::flare {
namespace {

using test::figure;
using test::Ip;
using test::mac;

constexpr std::uint8_t hosts = 8;
constexpr std::uint64_t blocks = 4;

// A root with a port for each worker, and memory for what its trees may need at most.
switching::SwitchConfig fed_root(const traffic::TreePlan& plan) {
  switching::SwitchConfig config;
  config.name = "s";
  config.id = 1;
  config.address = Ip{10, 255, 0, 1};
  auto& flare = config.protocols.emplace<FlareConfig>();
  std::vector<PortIndex> children;
  for (std::uint8_t port = 0; port < plan.workers; ++port) {
    config.ports.push_back(test::bridged_port("feed" + std::to_string(port), port));
    children.push_back(port);
  }
  std::uint64_t needed = 0;
  for (std::uint32_t job = 0; job < plan.jobs; ++job) {
    TreeConfig tree;
    tree.job = plan.first_job + job;
    tree.group = wire::Ipv4Address(plan.group.value() + job);
    tree.children = children;
    tree.workers = tree.workers_below = plan.workers;
    tree.window = plan.window;
    needed += buffers_of(tree);
    flare.trees.push_back(tree);
  }
  flare.working_memory = static_cast<std::uint32_t>(needed);
  return config;
}

TEST(FeedFlare, CanBeReplayedForEver) {
  constexpr std::uint64_t burst = 32;
  constexpr std::uint64_t passes = 3;
  std::vector<traffic::StationRange> ranges;
  for (std::uint8_t port = 0; port < hosts; ++port) {
    ranges.push_back({mac(1, port), Ip{10, 0, port, 1}, 1, {}, {}});
  }
  test::Bench bench(ranges);
  traffic::TreePlan plan;
  plan.workers = hosts;
  plan.jobs = 16;
  plan.group = Ip{239, 192, 0, 1};
  plan.window = 4;
  test::SwitchNetwork network(fed_root(plan), bench.pool, bench.now);
  std::vector<std::vector<test::FrameBytes>> files(hosts);
  feed_flare(
      plan, bench.stations, bench.pool, flare_runs_min, blocks,
      [&](std::size_t port, const Packet& frame) { files[port].push_back(test::copy_of(frame)); });
  const auto frames = plan.jobs * blocks * flare_runs_min;
  // The end of the last job's last run is lost once: its sum stays behind, and the run with it.
  const auto lost = frames - 1;
  // As a core polls its ports: a burst of each.
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
  EXPECT_EQ(network.device().ledger().dropped(), 0u);
}

}  // namespace
}  // namespace tributary::flare
