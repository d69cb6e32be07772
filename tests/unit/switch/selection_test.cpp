// SPDX-License-Identifier: BSD-3-Clause
// Tests up-port selection in a whole switch, with queues that the tests fill by hand.
#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "forwarding/port.h"
#include "support/switch_bench.h"
#include "unit/switch/four_up_ports.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;
using forwarding::Policies;
using forwarding::Policy;

constexpr std::uint64_t more_than_half = 512 * 1024 + 1;
constexpr std::uint64_t half = 512 * 1024;

PortIndex ordinary(SwitchBench& bench, Ip destination = far, std::uint16_t port = 5) {
  const Endpoints ends{mac(0), mac(0, 0xee), below, destination};
  return bench.send(0, make_udp(bench.pool, ends, port, 6)).at(0)->egress;
}

// Returns the port by which a switch with empty queues sends the block.
PortIndex default_of(std::uint32_t block) {
  SwitchBench bench(leaf_of_four({Policy::ecmp, Policy::ecmp}));
  return way_of_block(bench, block);
}

TEST(Selection, AdaptiveKeepsOrdinaryTrafficOnThePortOfItsDestination) {
  SwitchBench bench(leaf_of_four({Policy::adaptive, Policy::ecmp}));
  std::set<PortIndex> of_one;
  std::set<PortIndex> of_all;
  for (std::uint16_t i = 1; i <= 64; ++i) {
    of_one.insert(ordinary(bench, far, i));
    of_all.insert(ordinary(bench, Ip(8, 8, 8, static_cast<std::uint8_t>(i))));
  }
  EXPECT_EQ(of_one.size(), 1u);
  EXPECT_EQ(of_all.size(), 4u);
}

TEST(Selection, AdaptiveEvadesAFullQueueForOrdinaryTraffic) {
  SwitchBench bench(leaf_of_four({Policy::adaptive, Policy::ecmp}));
  const auto usual = ordinary(bench);
  bench.gauges[usual].publish_bytes(half);
  EXPECT_EQ(ordinary(bench), usual);
  bench.gauges[usual].publish_bytes(more_than_half);
  EXPECT_NE(ordinary(bench), usual);
  bench.gauges[default_of(7)].publish_bytes(more_than_half);
  EXPECT_EQ(way_of_block(bench, 7), default_of(7)) << "reductions have a setting of their own";
  EXPECT_EQ(bench.device().routes().back().counters.evaded, 0u) << "of another prefix";
  EXPECT_EQ(bench.device().routes().front().counters.evaded, 1u);
}

TEST(Selection, AdaptiveEvadesAFullQueueForReductions) {
  SwitchBench bench(leaf_of_four({Policy::ecmp, Policy::adaptive}));
  std::set<PortIndex> defaults;
  for (std::uint32_t block = 0; block < 64; ++block) {
    const auto usual = default_of(block);
    EXPECT_EQ(way_of_block(bench, block), usual);
    defaults.insert(usual);
    const auto empty = usual == last_up ? first_up : static_cast<PortIndex>(usual + 1);
    for (auto port = first_up; port <= last_up; ++port) {
      bench.gauges[port].publish_bytes(port == empty ? 0 : more_than_half);
    }
    for (std::uint32_t other = 1000 * (block + 1); other < 1000 * (block + 1) + 8; ++other) {
      EXPECT_EQ(way_of_block(bench, other), empty);
    }
    for (auto& gauge : bench.gauges) {
      gauge.publish_bytes(0);
    }
  }
  EXPECT_EQ(defaults.size(), 4u);
}

// The classes of a switch: what takes the rest, and that of reductions whose codepoint is 32.
switching::SwitchConfig with_classes(switching::SwitchConfig config) {
  config.classes = {{.name = "rest", .codepoints = {}}, {.name = "sums", .codepoints = {{32}}}};
  return config;
}
constexpr std::size_t rest = 0;
constexpr std::size_t sums = 1;
constexpr std::uint8_t tos_of_sums = 32 << 2;

TEST(Selection, AdaptiveLooksAtTheClassInWhichAPacketWillWait) {
  const auto config = with_classes(leaf_of_four({Policy::adaptive, Policy::adaptive}));
  SwitchBench bench(config);
  for (auto& gauge : bench.gauges) {
    gauge.publish_capacity(more_than_half, rest);
    gauge.publish_capacity(more_than_half, sums);
  }
  // A block that a switch with empty queues sends by the first up-port; each works once.
  std::uint32_t block = 0;
  const auto way = [&](std::uint8_t tos) {
    while (default_of(++block) != first_up) {
    }
    return bench.send(0, block_of(bench, block, 2, tos)).at(0)->egress;
  };
  auto& usual = bench.gauges[first_up];
  usual.publish_bytes(more_than_half, rest);
  EXPECT_EQ(way(tos_of_sums), first_up) << "where TCP waits is not in its way";
  EXPECT_NE(way(0), first_up);
  usual.publish_bytes(0, rest);
  usual.publish_bytes(more_than_half, sums);
  EXPECT_NE(way(tos_of_sums), first_up);
  EXPECT_EQ(way(0), first_up);

  usual.publish_bytes(0, sums);
  const auto port = ordinary(bench);
  bench.gauges[port].publish_bytes(more_than_half, sums);
  EXPECT_EQ(ordinary(bench), port);
  bench.gauges[port].publish_bytes(more_than_half, rest);
  EXPECT_NE(ordinary(bench), port);
}

TEST(Selection, UnlessConfiguredReductionsEvadeAFullQueueAndOrdinaryTrafficDoesNot) {
  SwitchBench bench(leaf_of_four({}));
  const auto usual = ordinary(bench);
  bench.gauges[usual].publish_bytes(more_than_half);
  EXPECT_EQ(ordinary(bench), usual);
  std::uint32_t block = 0;
  while (default_of(block) != usual) {
    ++block;
  }
  EXPECT_NE(way_of_block(bench, block), usual);
}

TEST(Selection, ABurstCountsWhatItSendsItself) {
  SwitchBench bench(leaf_of_four({Policy::adaptive, Policy::ecmp}));
  const auto usual = ordinary(bench);
  bench.gauges[usual].publish_bytes(more_than_half);
  PacketList burst;
  for (std::uint16_t i = 0; i < 30; ++i) {
    auto packet = make_udp(bench.pool, {mac(0), mac(0, 0xee), below, far}, i, 6, 1000);
    packet->ingress = 0;
    burst.push(std::move(packet));
  }
  std::array<unsigned, 5> hits{};
  for (const auto& packet : bench.send_burst(std::move(burst))) {
    ++hits.at(packet->egress);
  }
  for (auto port = first_up; port <= last_up; ++port) {
    EXPECT_EQ(hits.at(port), port == usual ? 0u : 10u) << port;
  }
}

TEST(Selection, WhatABurstSendsFillsTheQueueOfItsClass) {
  const auto all_by_one_port = [](std::uint8_t tos) {
    SwitchBench bench(with_classes(leaf_of_four({Policy::ecmp, Policy::adaptive})));
    for (auto& gauge : bench.gauges) {
      gauge.publish_capacity(4000, rest);
      gauge.publish_capacity(4000, sums);
    }
    const auto usual = ordinary(bench);
    std::uint32_t block = 0;
    while (default_of(block) != usual) {
      ++block;
    }
    PacketList burst;
    const auto push = [&burst](PacketPtr packet) {
      packet->ingress = 0;
      burst.push(std::move(packet));
    };
    for (int i = 0; i < 3; ++i) {
      push(make_udp(bench.pool, {mac(0), mac(0, 0xee), below, far}, 5, 6, 1000));
    }
    push(block_of(bench, block, 2, tos));
    const auto sent = bench.send_burst(std::move(burst));
    return std::all_of(sent.begin(), sent.end(),
                       [&](const PacketPtr& packet) { return packet->egress == usual; });
  };
  EXPECT_TRUE(all_by_one_port(tos_of_sums));
  EXPECT_FALSE(all_by_one_port(0));
}

// Both go to the queues only after the round.
TEST(Selection, WhatTimersSendEvadesWhatTheSameRoundReceived) {
  SwitchBench bench(leaf_of_four({Policy::adaptive, Policy::adaptive}));
  const auto usual = ordinary(bench);
  std::uint32_t block = 0;
  while (default_of(block) != usual) {
    ++block;
  }
  EXPECT_TRUE(bench.send(0, block_of(bench, block, 3)).empty()) << "waits for another";
  bench.gauges[usual].publish_bytes(more_than_half);
  bench.now += 1ms;
  PacketList burst;
  auto packet = make_udp(bench.pool, {mac(0), mac(0, 0xee), below, far}, 5, 6, 1000);
  packet->ingress = 0;
  burst.push(std::move(packet));
  switching::Output out;
  bench.device().receive(std::move(burst), bench.now, out);
  bench.device().expire(bench.now, out);
  std::vector<PortIndex> egress;
  out.departures.drain([&](std::uint32_t port, PacketList run) {
    egress.insert(egress.end(), run.size(), static_cast<PortIndex>(port));
  });
  ASSERT_EQ(egress.size(), 2u);
  EXPECT_NE(egress[0], egress[1]);
  EXPECT_NE(egress[1], usual) << "the sum";
}

TEST(Selection, AllLeavesAgreeAboutDefaultsAndStaticTrees) {
  for (const auto policy : {Policy::ecmp, Policy::adaptive, Policy::static_trees}) {
    auto one = leaf_of_four({Policy::ecmp, policy}, 1);
    auto other = leaf_of_four({Policy::ecmp, policy}, 2);
    one.selection.trees = other.selection.trees = 2;
    one.selection.reduction_seed = other.selection.reduction_seed = 7;
    SwitchBench first(one);
    SwitchBench second(other);
    std::set<PortIndex> roots;
    for (std::uint32_t block = 0; block < 64; ++block) {
      const auto root = way_of_block(first, block);
      EXPECT_EQ(way_of_block(second, block), root);
      roots.insert(root);
    }
    EXPECT_EQ(roots.size(), policy == Policy::static_trees ? 2u : 4u);
  }
}

// Returns the paths of blocks through two levels with four up-ports each.
std::set<std::pair<PortIndex, PortIndex>> ways(const switching::SwitchConfig& lower,
                                               const switching::SwitchConfig& upper) {
  SwitchBench first(lower);
  SwitchBench second(upper);
  std::set<std::pair<PortIndex, PortIndex>> taken;
  for (std::uint32_t block = 0; block < 256; ++block) {
    taken.emplace(way_of_block(first, block), way_of_block(second, block));
  }
  return taken;
}

TEST(Selection, LevelsChooseApartByASeedEach) {
  for (const auto policy : {Policy::ecmp, Policy::adaptive, Policy::flowlet}) {
    const auto lower = leaf_of_four({Policy::ecmp, policy}, 1);
    auto upper = leaf_of_four({Policy::ecmp, policy}, 2);
    EXPECT_EQ(ways(lower, upper).size(), 4u) << "they read the same bits";
    upper.selection.reduction_seed = 1;
    EXPECT_EQ(ways(lower, upper).size(), 16u);
  }
}

TEST(Selection, AReloadChangesTheSeedOfReductionsAndOfNothingElse) {
  auto config = leaf_of_four({Policy::ecmp, Policy::ecmp});
  SwitchBench bench(config);
  const auto choices = [&bench] {
    std::vector<PortIndex> chosen;
    for (std::uint32_t i = 0; i < 64; ++i) {
      chosen.push_back(way_of_block(bench, i));
    }
    return chosen;
  };
  const auto flows = [&bench] {
    std::vector<PortIndex> chosen;
    for (std::uint16_t i = 0; i < 64; ++i) {
      chosen.push_back(ordinary(bench, far, i));
    }
    return chosen;
  };
  std::vector<PortIndex> usual;
  for (std::uint32_t block = 0; block < 64; ++block) {
    usual.push_back(default_of(block));
  }
  const auto before = flows();
  config.selection.reduction_seed = 5;
  bench.device().reconfigure(config);
  EXPECT_EQ(flows(), before);
  EXPECT_NE(choices(), usual);
}

TEST(Selection, EveryPolicyLeavesADownPortAtOnce) {
  for (const auto policy : {Policy::ecmp, Policy::flowlet, Policy::adaptive}) {
    SwitchBench bench(
        leaf_of_four({policy, policy == Policy::ecmp ? Policy::static_trees : policy}));
    const auto usual = ordinary(bench);
    const auto root = way_of_block(bench, 2);
    bench.device().set_port_up(usual, false);
    bench.device().set_port_up(root, false);
    const auto refuge = ordinary(bench);
    EXPECT_NE(refuge, usual);
    EXPECT_NE(refuge, root);
    for (std::uint32_t block = 100; block < 140; ++block) {
      const auto next = way_of_block(bench, block);
      EXPECT_NE(next, usual);
      EXPECT_NE(next, root);
    }
  }
}

TEST(Selection, ARouteMayDifferFromItsSwitchAndAReloadChangesIt) {
  auto config = leaf_of_four({Policy::adaptive, Policy::adaptive});
  config.routes[0].ordinary = Policy::ecmp;
  SwitchBench bench(config);
  const auto row = [&bench] { return bench.device().routes().front(); };
  EXPECT_EQ(row().policies.ordinary, Policy::ecmp);
  EXPECT_EQ(row().policies.reduction, Policy::adaptive);
  bench.gauges[default_of(1)].publish_bytes(more_than_half);
  EXPECT_NE(way_of_block(bench, 1), default_of(1));
  const auto evaded = row().counters.evaded;
  EXPECT_EQ(evaded, 1u);

  config.selection.policies.reduction = Policy::static_trees;
  bench.device().reconfigure(config);
  EXPECT_EQ(row().policies.reduction, Policy::static_trees);
  EXPECT_EQ(row().counters.evaded, evaded) << "counters go on";
  const auto root = way_of_block(bench, 3);
  EXPECT_EQ(way_of_block(bench, 4), root);
  EXPECT_EQ(way_of_block(bench, 5), root);
}

TEST(Selection, FlowletsMoveOrdinaryTrafficBetweenPausesOnly) {
  auto config = leaf_of_four({Policy::flowlet, Policy::ecmp});
  config.selection.flowlet_gap = 500us;
  SwitchBench bench(config);
  const auto port = ordinary(bench);
  bench.gauges[port].publish_bytes(1);
  bench.now += 400us;
  EXPECT_EQ(ordinary(bench), port);
  bench.now += 501us;
  EXPECT_NE(ordinary(bench), port);
  EXPECT_EQ(bench.device().routes().front().counters.flowlets_moved, 1u);
}

TEST(Selection, APortPublishesWhatItsQueueHolds) {
  HeapPacketPool pool(8, 2048);
  forwarding::PortConfig config;
  config.queue.rate_bps = 8'000'000;
  config.queue.capacity_bytes = 5000;
  forwarding::QueueGauge gauge;
  forwarding::Port port(config, &gauge);
  EXPECT_EQ(gauge.capacity(), 5000u);
  EXPECT_EQ(gauge.rate_bps(), 8'000'000u);
  const Time now{1s};
  for (int i = 0; i < 3; ++i) {
    port.enqueue(make_frame(pool, mac(1), mac(2), 0x0800, 1000), now);
  }
  EXPECT_EQ(gauge.bytes(), port.queue_bytes());
  EXPECT_EQ(gauge.bytes(), 3 * 1014u);
  PacketList out;
  port.dequeue(now + 2ms, out, 1);
  EXPECT_EQ(gauge.bytes(), 2 * 1014u);
  config.queue.capacity_bytes = 9000;
  config.queue.rate_bps = 0;
  config.line_bps = 40'000'000;
  port.reconfigure(config);
  EXPECT_EQ(gauge.capacity(), 9000u);
  EXPECT_EQ(gauge.rate_bps(), 40'000'000u) << "of the device, where nothing shapes";
  port.clear();
  EXPECT_EQ(gauge.bytes(), 0u);
}

TEST(Selection, APortWithoutALinkPublishesAnEmptyQueue) {
  HeapPacketPool pool(8, 2048);
  forwarding::QueueGauge gauge;
  forwarding::Port port({}, &gauge);
  port.enqueue(make_frame(pool, mac(1), mac(2), 0x0800, 1000), Time{1s});
  EXPECT_GT(gauge.bytes(), 0u);
  port.set_up(false);
  EXPECT_EQ(gauge.bytes(), 0u);
}

// A queue of small frames runs out of buffers long before it reaches its limit of bytes.
TEST(Selection, AdaptiveEvadesAQueueThatIsFullOfSmallFrames) {
  SwitchBench bench(leaf_of_four({Policy::adaptive, Policy::ecmp}));
  const auto usual = ordinary(bench);
  HeapPacketPool pool(5000, 128);
  forwarding::PortConfig config;
  forwarding::Port port(config, &bench.gauges[usual]);
  while (port.counters().queue_tail_dropped == 0) {
    port.enqueue(make_frame(pool, mac(1), mac(2), 0x0800, 52), bench.now);
  }
  EXPECT_LT(port.queue_bytes(), half);
  EXPECT_NE(ordinary(bench), usual);
  port.clear();
}

}  // namespace
}  // namespace tributary::test
