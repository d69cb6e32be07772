// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include "unit/switch/three_hosts.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;

TEST(Aggregation, SumsBetweenRoutedPortsAndBroadcastsTheResult) {
  SwitchBench bench(routed());
  EXPECT_TRUE(
      bench.send(0, make_canary(bench.pool, contribution(0, mac(0, 0xee)), Elements{3})).empty());
  const auto out =
      bench.send(1, make_canary(bench.pool, contribution(1, mac(1, 0xee)), Elements{4}));
  ASSERT_EQ(out.size(), 1u);
  expect_sum(*out[0], 7, switch_ip);
  EXPECT_EQ(ethernet_of(*out[0]).source, mac(2, 0xee));

  CanarySpec result;
  result.kind = wire::CanaryKind::result;
  result.hosts = 3;
  result.counter = 3;
  result.destination = switch_ip;
  result.child_address = host(2);
  result.source_mac = mac(2);
  result.destination_mac = mac(2, 0xee);
  const auto copies = bench.send(2, make_canary(bench.pool, result, Elements{12}));
  ASSERT_EQ(copies.size(), 2u);
  for (const auto& copy : copies) {
    const auto child = static_cast<std::uint8_t>(copy->egress);
    EXPECT_LT(child, 2);
    EXPECT_EQ(ethernet_of(*copy).destination, mac(child));
    EXPECT_EQ(ethernet_of(*copy).source, mac(child, 0xee));
    EXPECT_EQ(ip_of(*copy).destination, host(child));
    EXPECT_EQ(first_element(*copy), 12);
  }
  EXPECT_EQ(bench.ledger().absorbed, 3u);
  EXPECT_EQ(bench.ledger().sent, 3u);
}

TEST(Aggregation, RoutedPortsLookBehindPriorityTags) {
  SwitchBench bench(routed());
  const auto with_tag = [&](std::uint8_t from, std::int32_t value) {
    const auto spec = contribution(from, mac(from, 0xee));
    return tagged(make_canary(bench.pool, spec, Elements{value}), 3u << wire::vlan_priority_shift);
  };
  EXPECT_TRUE(bench.send(0, with_tag(0, 3)).empty());
  const auto out = bench.send(1, with_tag(1, 4));
  ASSERT_EQ(out.size(), 1u);
  expect_sum(*out[0], 7, switch_ip);
}

TEST(Aggregation, DirectlyOverEthernetRoutesByTheHeadersDestination) {
  SwitchBench bench(routed());
  PacketPtr sum;
  for (std::uint8_t from = 0; from < 2; ++from) {
    auto spec = contribution(from, wire::canary_group_mac);
    spec.encapsulation = wire::Encapsulation::ethernet;
    spec.child_port = 0;
    for (auto& packet : bench.send(from, make_canary(bench.pool, spec, Elements{5}))) {
      sum = std::move(packet);
    }
  }
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->egress, 2);
  EXPECT_EQ(ethernet_of(*sum).destination, mac(2));
  EXPECT_EQ(ethernet_of(*sum).source, mac(2, 0xee));
  EXPECT_EQ(first_element(*sum), 10);
}

TEST(Aggregation, DirectlyOverEthernetNothingGoesBackToTheRouterThatItComesFrom) {
  auto config = routed();
  config.routes = {{{Ip(10, 7, 0, 0), 16}, {host(1)}}};
  SwitchBench bench(config);
  auto spec = contribution(0, wire::canary_group_mac);
  spec.bypass = true;
  spec.encapsulation = wire::Encapsulation::ethernet;
  spec.child_port = 0;
  spec.destination = Ip(10, 7, 0, 1);
  EXPECT_EQ(bench.send(0, make_canary(bench.pool, spec, Elements{5})).size(), 1u);
  EXPECT_EQ(bench.send(1, make_canary(bench.pool, spec, Elements{5})).size(), 1u)
      << "another station of that link has this switch for a router";
  spec.source_mac = mac(1);
  EXPECT_TRUE(bench.send(1, make_canary(bench.pool, spec, Elements{5})).empty());
  EXPECT_EQ(bench.drops(DropReason::ttl_exceeded), 1u) << "it has no TTL, and would go for ever";
}

TEST(Aggregation, TimeoutOfTheLeadersLastHopSendsThePartialSum) {
  SwitchBench bench(routed());
  bench.send(0, make_canary(bench.pool, contribution(0, mac(0, 0xee)), Elements{3}));
  EXPECT_EQ(bench.device().deadline(), bench.now + 50ms);
  const auto out = bench.advance(50ms);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0]->egress, 2);
  EXPECT_EQ(canary_header(*out[0])->counter.value(), 1);
}

TEST(Aggregation, EnginesSeeNothingThatWasDamagedOrIsForOthers) {
  SwitchBench bench(routed());
  auto damaged = make_canary(bench.pool, contribution(0, mac(0, 0xee)), Elements{3});
  ip_of(*damaged).ttl = 9;
  EXPECT_TRUE(bench.send(0, std::move(damaged)).empty());
  EXPECT_EQ(bench.drops(DropReason::ip_checksum), 1u);
  EXPECT_TRUE(
      bench.send(0, make_canary(bench.pool, contribution(0, mac(77)), Elements{3})).empty());
  EXPECT_EQ(bench.drops(DropReason::other_mac), 1u);
  EXPECT_EQ(bench.device().deadline(), never) << "nothing is gathered";
}

TEST(Aggregation, WithoutAnEngineItIsOrdinaryTraffic) {
  auto config = routed();
  config.protocols.reset<canary::CanaryConfig>();
  SwitchBench bench(config);
  const auto out =
      bench.send(0, make_canary(bench.pool, contribution(0, mac(0, 0xee)), Elements{3}));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(ip_of(*out[0]).ttl, 62);
  EXPECT_TRUE(bench.device().engines().empty());
}

TEST(Aggregation, AllLeavesChooseTheSameUplinkForABlock) {
  auto config = routed();
  config.routes = {{{Ip(10, 7, 0, 0), 16}, {host(1), host(2)}}};
  auto other = config;
  other.id = 2;
  SwitchBench leaf(config);
  SwitchBench second(other);
  std::array<unsigned, 3> hits{};
  for (std::uint32_t id = 0; id < 200; ++id) {
    auto spec = contribution(0, mac(0, 0xee));
    spec.id = id;
    spec.hosts = 2;
    spec.destination = Ip(10, 7, 0, 1);
    const auto one = leaf.send(0, make_canary(leaf.pool, spec, Elements{1}));
    const auto two = second.send(0, make_canary(second.pool, spec, Elements{1}));
    ASSERT_EQ(one.size(), 1u);
    ASSERT_EQ(two.size(), 1u);
    EXPECT_EQ(one[0]->egress, two[0]->egress);
    ++hits.at(one[0]->egress);
  }
  EXPECT_NEAR(hits[1], 100, 40);
}

TEST(Aggregation, ReconfigurationKeepsTheBlocksThatAreHeld) {
  auto config = routed();
  SwitchBench bench(config);
  bench.send(0, make_canary(bench.pool, contribution(0, mac(0, 0xee)), Elements{3}));
  config.protocols.get<canary::CanaryConfig>().root_timeout = 5ms;
  bench.device().reconfigure(config);
  EXPECT_EQ(bench.device().deadline(), bench.now + 5ms);
  const auto out =
      bench.send(1, make_canary(bench.pool, contribution(1, mac(1, 0xee)), Elements{4}));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(first_element(*out[0]), 7);
}

}  // namespace
}  // namespace tributary::test
