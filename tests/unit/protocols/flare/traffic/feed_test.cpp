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
constexpr std::uint32_t blocks = 4;

// A root with a port for each worker, and memory for the most that its trees may need.
switching::SwitchConfig fed_root(const traffic::TreePlan& plan, bool sparse) {
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
    tree.window = sparse ? 1 : plan.window;
    tree.sparse_window = sparse ? plan.window : 0;
    needed += buffers_of(tree);
    flare.trees.push_back(tree);
  }
  flare.working_memory = static_cast<std::uint32_t>(needed);
  return config;
}

traffic::TreePlan fed_plan(std::uint32_t jobs) {
  traffic::TreePlan plan;
  plan.workers = hosts;
  plan.jobs = jobs;
  plan.group = Ip{239, 192, 0, 1};
  plan.window = 4;
  return plan;
}

test::Bench fed_hosts() {
  std::vector<traffic::StationRange> ranges;
  for (std::uint8_t port = 0; port < hosts; ++port) {
    ranges.push_back({mac(1, port), Ip{10, 0, port, 1}, 1, {}, {}});
  }
  return test::Bench(ranges);
}

// Replays the files three times, and loses the last frame of one file once: the last job's sum is
// not made, and its run stays behind.
void replay_with_a_loss(const test::Files& files, test::SwitchNetwork& network,
                        test::Bench& bench) {
  constexpr std::uint64_t burst = 32;
  const auto frames = files.front().size();
  // Takes a burst of each port, as a core does.
  for (std::uint64_t first = 0; first < 3 * frames; first += burst) {
    for (std::size_t port = 0; port < hosts; ++port) {
      ASSERT_EQ(files[port].size(), frames);
      for (auto i = first; i < first + burst; ++i) {
        if (port != 3 || i != frames - 1) {
          test::replay(files[port][i % frames], port, network, bench);
        }
      }
    }
  }
}

TEST(FeedFlare, CanBeReplayedForEver) {
  auto bench = fed_hosts();
  const auto plan = fed_plan(16);
  test::SwitchNetwork network(fed_root(plan, false), bench.pool, bench.now);
  test::Files files(hosts);
  feed_flare(plan, {flare_runs_min, blocks}, test::feed_of(bench, files));
  const auto frames = plan.jobs * blocks * flare_runs_min;
  EXPECT_EQ(files[0].size(), frames);
  replay_with_a_loss(files, network, bench);
  EXPECT_EQ(figure(network, "contributions_total"), 3 * frames * hosts - 1);
  EXPECT_EQ(figure(network, "results_total"), 3 * frames - 1);
  EXPECT_EQ(network.device().ledger().dropped(), 0u);
}

TEST(FeedFlare, SparseBlocksCanBeReplayedForEver) {
  auto bench = fed_hosts();
  const auto plan = fed_plan(8);
  const SparsePlan sparse{.spacing = 10, .shards = 2, .pairs = 10, .full = 64};
  test::SwitchNetwork network(fed_root(plan, true), bench.pool, bench.now);
  test::Files files(hosts);
  feed_flare_sparse(plan, sparse, {flare_runs_min, blocks}, test::feed_of(bench, files));
  const auto sums = plan.jobs * blocks * flare_runs_min;
  EXPECT_EQ(files[0].size(), 2 * sums);
  replay_with_a_loss(files, network, bench);
  EXPECT_EQ(figure(network, "sparse_contributions_total"), 3 * 2 * sums * hosts - 1);
  EXPECT_EQ(figure(network, "sparse_sums_total"), 3 * sums - 1);
  EXPECT_EQ(network.device().ledger().dropped(), 0u);
}

}  // namespace
}  // namespace tributary::flare
