// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/traffic/feed.h"

#include <vector>

#include <gtest/gtest.h>

#include "protocols/canary/engine/config.h"
#include "support/switch_bench.h"
#include "support/traffic_bench.h"

namespace tributary::canary {
namespace {

using test::figure;
using test::Ip;
using test::mac;

constexpr std::uint8_t hosts = 8;

TEST(FeedCanary, CanBeReplayedForEver) {
  test::Bench bench({{mac(1), Ip{10, 0, 0, 1}, hosts, mac(0, 0xee), {}}});
  for (const std::uint32_t interleave : {1u, 7u, 64u}) {
    auto config = test::fed_router(hosts);
    config.protocols.emplace<CanaryConfig>();
    test::SwitchNetwork network(config, bench.pool, bench.now);
    TrafficPlan plan;
    plan.workers = hosts;
    plan.interleave = interleave;
    test::Files files(1);
    const auto& file = files[0];
    feed_canary(plan, 64, Ip{10, 255, 0, 1}, test::feed_of(bench, files));
    EXPECT_EQ(file.size(), 64u * hosts);
    constexpr std::uint64_t passes = 3;
    for (std::uint64_t pass = 0; pass < passes; ++pass) {
      for (const auto& frame : file) {
        test::replay(frame, 0, network, bench);
      }
    }
    EXPECT_EQ(figure(network, "contributions_total"), passes * 64 * (hosts - 1));
    EXPECT_EQ(figure(network, "partial_sums_complete_total"), passes * 64);
    EXPECT_EQ(figure(network, "results_total"), passes * 64);
    EXPECT_EQ(figure(network, "result_copies_total"), passes * 64 * (hosts - 1));
    EXPECT_EQ(figure(network, "descriptors_in_use"), 0u);
    EXPECT_EQ(network.device().ledger().dropped(), 0u);
  }
}

}  // namespace
}  // namespace tributary::canary
