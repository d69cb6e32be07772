// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/traffic/feed.h"

#include <vector>

#include <gtest/gtest.h>

#include "protocols/netreduce/engine/config.h"
#include "support/switch_bench.h"
#include "support/traffic_bench.h"

namespace tributary::netreduce {
namespace {

using test::figure;
using test::Ip;
using test::mac;

constexpr std::uint8_t hosts = 8;

TEST(FeedNetReduce, CanBeReplayedForEver) {
  constexpr std::uint32_t messages = 4;
  constexpr std::uint64_t passes = 4;
  TrafficPlan plan;
  plan.workers = hosts;
  plan.message_packets = 10;
  for (const std::uint32_t interleave : {1u, 7u, 64u}) {
    test::Bench bench({{mac(1), Ip{10, 0, 0, 1}, hosts, mac(0, 0xee), {}}});
    auto config = test::fed_router(hosts);
    auto& ring = config.protocols.emplace<NetReduceConfig>().rings.emplace_back();
    ring.id = plan.first_ring;
    ring.message_packets = plan.message_packets;
    for (std::uint8_t i = 1; i <= hosts; ++i) {
      ring.members.emplace_back(Ip{10, 0, 0, i});
    }
    test::SwitchNetwork network(config, bench.pool, bench.now);
    plan.interleave = interleave;
    test::Files files(1);
    const auto& file = files[0];
    feed_netreduce(plan, messages, test::feed_of(bench, files));
    constexpr std::uint64_t blocks = netreduce_runs * (1 + (messages - 1) * 10);
    EXPECT_EQ(file.size(), blocks * hosts);
    for (std::uint64_t pass = 0; pass < passes; ++pass) {
      for (const auto& frame : file) {
        test::replay(frame, 0, network, bench);
      }
    }
    EXPECT_EQ(figure(network, "sums_total"), passes * blocks);
    EXPECT_EQ(figure(network, "results_total"), passes * blocks * hosts);
    EXPECT_EQ(figure(network, "runs"), passes * netreduce_runs);
    EXPECT_EQ(network.device().ledger().dropped(), 0u);
  }
}

}  // namespace
}  // namespace tributary::netreduce
