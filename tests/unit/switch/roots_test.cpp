// SPDX-License-Identifier: BSD-3-Clause
// Tests what a switch learns from results about the roots of blocks.
#include <array>
#include <cstdint>
#include <vector>

#include "unit/switch/four_up_ports.h"

namespace tributary::test {
namespace {

using forwarding::Policy;

// The result of a block comes by this up-port.
void answer(SwitchBench& bench, std::uint32_t block, PortIndex up, bool congested) {
  CanarySpec result;
  result.kind = wire::CanaryKind::result;
  result.id = block;
  result.hosts = result.counter = 2;
  result.destination = Ip(10, 1, 255, 1);
  result.child_address = far;
  result.source_mac = mac(static_cast<std::uint8_t>(up));
  result.destination_mac = mac(static_cast<std::uint8_t>(up), 0xee);
  result.congested = congested;
  EXPECT_EQ(bench.send(up, make_canary(bench.pool, result, std::vector<std::int32_t>{3})).size(),
            1u);
}

// Counts the blocks that leave by the first up-port, on which results are marked.
unsigned by_the_first(SwitchBench& bench, std::uint32_t first_block, std::uint32_t blocks) {
  unsigned hits = 0;
  for (auto block = first_block; block < first_block + blocks; ++block) {
    const auto up = way_of_block(bench, block);
    answer(bench, block, up, up == first_up);
    hits += up == first_up ? 1 : 0;
  }
  return hits;
}

TEST(Roots, BlocksLeaveAnUpPortWhoseResultsAreMarked) {
  for (const auto policy : {Policy::adaptive, Policy::ecmp}) {
    const auto config = leaf_of_four({Policy::ecmp, policy});
    auto narrow = config;
    narrow.routes[0].via.resize(1);
    SwitchBench bench(narrow);
    EXPECT_EQ(by_the_first(bench, 0, 40), 40u) << "there is no other";
    bench.device().reconfigure(config);
    EXPECT_GT(by_the_first(bench, 1000, 100), 15u);
    by_the_first(bench, 2000, 400);
    const auto left = by_the_first(bench, 3000, 200);
    const auto hops = bench.device().routes().front().next_hops;
    if (policy == Policy::adaptive) {
      EXPECT_LT(left, 20u);
      EXPECT_LT(hops[0].share, 0.25);
      EXPECT_GT(hops[0].share, 0);
    } else {
      EXPECT_GT(left, 30u);
      EXPECT_EQ(hops[0].share, 1);
    }
    EXPECT_EQ(hops[1].share, 1) << "nobody can see why not";
  }
}

TEST(Roots, LinesOfDifferentSpeedsGetBlocksByTheirRates) {
  auto config = leaf_of_four({Policy::ecmp, Policy::adaptive});
  for (auto port = first_up; port <= last_up; ++port) {
    config.ports[port].line_bps = port == first_up ? 100'000'000'000 : 25'000'000'000;
  }
  SwitchBench bench(config);
  constexpr std::uint32_t blocks = 1400;
  std::array<unsigned, last_up + 1> hits{};
  for (std::uint32_t block = 0; block < blocks; ++block) {
    ++hits.at(way_of_block(bench, block));
  }
  EXPECT_NEAR(hits[first_up], blocks * 4 / 7, 80);
  for (PortIndex port = first_up + 1; port <= last_up; ++port) {
    EXPECT_NEAR(hits.at(port), blocks / 7, 50);
  }
}

TEST(Roots, AMarkCountsAgainstTheRootThatTheBlockWentTo) {
  SwitchBench bench(leaf_of_four({Policy::ecmp, Policy::adaptive}));
  bench.gauges[first_up].publish_bytes(bench.gauges[first_up].capacity());
  constexpr PortIndex refuge = first_up + 1;
  bench.gauges[last_up].publish_bytes(1);
  bench.gauges[last_up - 1].publish_bytes(1);
  for (std::uint32_t block = 0; block < 400; ++block) {
    const auto up = way_of_block(bench, block);
    answer(bench, block, up, up == refuge);
  }
  const auto hops = bench.device().routes().front().next_hops;
  EXPECT_EQ(hops[0].share, 1) << "it got none";
  EXPECT_LT(hops[1].share, 0.5);
  EXPECT_EQ(hops[2].share, 1);
}

}  // namespace
}  // namespace tributary::test
