// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include "protocols/canary/engine/config.h"
#include "support/canary_packets.h"
#include "support/switch_bench.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;
using Elements = std::vector<std::int32_t>;

const Ip switch_ip(10, 0, 255, 1);

Ip host(std::uint8_t number) {
  return {10, 0, number, 9};
}

// Host n is behind port n; host 2 leads.
switching::SwitchConfig routed() {
  switching::SwitchConfig config;
  config.id = 1;
  config.address = switch_ip;
  config.protocols.emplace<canary::CanaryConfig>({});
  for (std::uint8_t i = 0; i < 3; ++i) {
    config.ports.push_back(
        routed_port(std::string(1, static_cast<char>('a' + i)), i, Ip(10, 0, i, 1)));
    config.arp.push_back({host(i), mac(i)});
  }
  return config;
}

// The same hosts on one segment; the switch is a host of it.
switching::SwitchConfig bridged() {
  auto config = routed();
  config.arp.clear();
  config.address = Ip(10, 0, 0, 254);
  config.bridge_address = forwarding::InterfaceAddress{config.address, 16};
  for (auto& port : config.ports) {
    port.address.reset();
  }
  return config;
}

CanarySpec contribution(std::uint8_t from, const wire::MacAddress& to) {
  CanarySpec spec;
  spec.hosts = 3;
  spec.rank = from;
  spec.destination = host(2);
  spec.child_address = host(from);
  spec.source_mac = mac(from);
  spec.destination_mac = to;
  spec.fingerprint = 100u + from;
  return spec;
}

std::int32_t first_element(Packet& packet) {
  std::int32_t value = 0;
  std::memcpy(&value, reinterpret_cast<const std::byte*>(canary_header(packet) + 1), sizeof value);
  return value;
}

void expect_sum(Packet& sum, std::int32_t value, const Ip& from) {
  EXPECT_EQ(sum.egress, 2);
  EXPECT_EQ(ethernet_of(sum).destination, mac(2));
  EXPECT_EQ(ip_of(sum).source, from);
  EXPECT_EQ(ip_of(sum).destination, host(2));
  EXPECT_EQ(ip_of(sum).ttl, 64);
  EXPECT_EQ(wire::internet_checksum(std::as_bytes(std::span(&ip_of(sum), 1))), 0);
  EXPECT_EQ(canary_header(sum)->counter.value(), 2);
  EXPECT_EQ(canary_header(sum)->fingerprint.value(), 201u);
  EXPECT_EQ(first_element(sum), value);
}

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

TEST(Aggregation, SumsOnABridgeByTheFramesOwnDestination) {
  SwitchBench bench(bridged());
  bench.send(2, make_udp(bench.pool, {mac(2), mac(9), host(2), host(9)}, 5, 6));
  EXPECT_TRUE(bench.send(0, make_canary(bench.pool, contribution(0, mac(2)), Elements{3})).empty());
  const auto out = bench.send(1, make_canary(bench.pool, contribution(1, mac(2)), Elements{4}));
  ASSERT_EQ(out.size(), 1u);
  expect_sum(*out[0], 7, Ip(10, 0, 0, 254));
  EXPECT_EQ(ethernet_of(*out[0]).source, mac(0, 0xee)) << "the bridge's";
}

// Another switch behind that port, which knows as little, would add it up and flood it back.
TEST(Aggregation, ASumForAnUnknownStationIsNotFloodedToWhereItsPacketCameFrom) {
  SwitchBench bench(bridged());
  EXPECT_TRUE(bench.send(0, make_canary(bench.pool, contribution(0, mac(2)), Elements{1})).empty());
  const auto out = bench.send(1, make_canary(bench.pool, contribution(1, mac(2)), Elements{2}));
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0]->egress, 1);
  EXPECT_EQ(out[1]->egress, 2);
}

// Returns a contribution that a switch has sent for that host.
CanarySpec sum_of(std::uint8_t from, const wire::MacAddress& to) {
  auto spec = contribution(from, to);
  spec.rank = wire::CanaryHeader::no_rank;
  return spec;
}

TEST(Aggregation, ASumForAnUnknownStationIsNotFloodedToASwitchWithAPartInIt) {
  SwitchBench bench(bridged());
  EXPECT_TRUE(bench.send(0, make_canary(bench.pool, contribution(0, mac(2)), Elements{1})).empty());
  const auto out = bench.send(1, make_canary(bench.pool, sum_of(1, mac(2)), Elements{2}));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0]->egress, 2);
}

// Makes the bridge believe that host 2 is behind the port.
void show_leader(SwitchBench& bench, PortIndex port) {
  bench.send(port, make_udp(bench.pool, {mac(2), mac(9), host(2), host(9)}, 5, 6));
}

// A second switch, whose port 2 has a cable to port 2 of the first.
switching::SwitchConfig other_bridge() {
  auto config = bridged();
  config.id = 2;
  config.address = Ip(10, 0, 0, 253);
  config.bridge_address = forwarding::InterfaceAddress{config.address, 16};
  for (std::uint8_t port = 0; port < 3; ++port) {
    config.ports[port].mac = mac(port, 0xdd);
  }
  return config;
}

TEST(Aggregation, OfTwoBridgesThatBelieveInEachOtherNoneReturnsASum) {
  for (const bool other_begins : {false, true}) {
    SwitchBench one(bridged());
    SwitchBench other(other_bridge());
    show_leader(one, 2);
    show_leader(other, 2);
    one.send(0, make_canary(one.pool, contribution(0, mac(2)), Elements{3}));
    auto sums = one.advance(50ms);
    ASSERT_EQ(sums.size(), 1u);
    EXPECT_EQ(sums[0]->egress, 2);
    if (other_begins) {
      other.send(1, make_canary(other.pool, contribution(1, mac(2)), Elements{4}));
    }
    EXPECT_TRUE(other.send(2, std::move(sums[0])).empty());
    EXPECT_TRUE(other.advance(50ms).empty());
    EXPECT_EQ(other.losses(DropReason::bridge_same_port), 1u);
  }
}

TEST(Aggregation, TransitOnABridgeKeepsItsSourceAddress) {
  SwitchBench bench(bridged());
  auto spec = contribution(0, mac(2));
  spec.bypass = true;
  const auto out = bench.send(0, make_canary(bench.pool, spec, Elements{3}));
  ASSERT_EQ(out.size(), 2u) << "leader's port not known yet";
  EXPECT_EQ(ethernet_of(*out[0]).source, mac(0));
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

// Another switch on the bridge sends to the leader's address. Neither may know the leader's port.
TEST(Aggregation, DirectlyOverEthernetNothingTurnsBackOnABridge) {
  auto config = bridged();
  config.arp = {{host(2), mac(2)}};
  SwitchBench bench(config);
  auto spec = contribution(0, mac(2));
  spec.bypass = true;
  spec.encapsulation = wire::Encapsulation::ethernet;
  spec.child_port = 0;
  const auto out = bench.send(0, make_canary(bench.pool, spec, Elements{5}));
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0]->egress, 1);
  EXPECT_EQ(out[1]->egress, 2);
  bench.send(0, make_udp(bench.pool, {mac(2), mac(1), host(2), host(1)}, 5, 6));
  EXPECT_TRUE(bench.send(0, make_canary(bench.pool, spec, Elements{5})).empty());
  EXPECT_EQ(bench.drops(DropReason::bridge_same_port), 1u);
}

CanarySpec raw_contribution(std::uint8_t from, const wire::MacAddress& to) {
  auto spec = contribution(from, to);
  spec.encapsulation = wire::Encapsulation::ethernet;
  spec.child_port = 0;
  return spec;
}

// Virtual machines that reach each other by the switch alone.
TEST(Aggregation, ASumGoesToALeaderBehindThePortOfAHostWithAPartInIt) {
  SwitchBench bench(bridged());
  show_leader(bench, 0);
  EXPECT_TRUE(bench.send(0, make_canary(bench.pool, contribution(0, mac(2)), Elements{3})).empty());
  const auto out = bench.send(1, make_canary(bench.pool, contribution(1, mac(2)), Elements{4}));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0]->egress, 0);
}

// An ordinary switch behind the port has both hosts, and the contribution is for the next switch
// that adds up.
TEST(Aggregation, DirectlyOverEthernetTheLeaderMayBeBehindThePortOfAContribution) {
  auto config = bridged();
  config.arp = {{host(2), mac(2)}};
  SwitchBench bench(config);
  show_leader(bench, 0);
  for (std::uint8_t from = 0; from < 2; ++from) {
    const auto spec = raw_contribution(from, wire::canary_group_mac);
    auto out = bench.send(from, make_canary(bench.pool, spec, Elements{5}));
    ASSERT_EQ(out.size(), from);
    if (from == 1) {
      EXPECT_EQ(out[0]->egress, 0);
      EXPECT_EQ(first_element(*out[0]), 10);
    }
  }
}

// What another switch sent to the leader's station by port 1 is in the sum with what a host sent to
// the next switch by port 0. Returns what leaves if the leader is behind that port.
std::vector<PacketPtr> sum_on_a_bridge(SwitchBench& bench, PortIndex leader,
                                       const std::array<std::uint8_t, 2>& order) {
  show_leader(bench, leader);
  std::vector<PacketPtr> out;
  for (const auto from : order) {
    auto spec = raw_contribution(from, from == 0 ? wire::canary_group_mac : mac(2));
    spec.rank = from == 0 ? std::uint16_t{0} : wire::CanaryHeader::no_rank;
    out = bench.send(from, make_canary(bench.pool, spec, Elements{5}));
  }
  return out;
}

constexpr std::array<std::array<std::uint8_t, 2>, 2> both_orders{{{0, 1}, {1, 0}}};

TEST(Aggregation, DirectlyOverEthernetASumDoesNotTurnBackOnABridge) {
  auto config = bridged();
  config.arp = {{host(2), mac(2)}};
  for (const auto& order : both_orders) {
    SwitchBench bench(config);
    EXPECT_TRUE(sum_on_a_bridge(bench, 1, order).empty());
    EXPECT_EQ(bench.losses(DropReason::bridge_same_port), 1u);
  }
}

TEST(Aggregation, DirectlyOverEthernetASumGoesOnInTransit) {
  for (const auto& order : both_orders) {
    SwitchBench bench(bridged());
    const auto out = sum_on_a_bridge(bench, 2, order);
    ASSERT_EQ(out.size(), 1u) << "without ARP";
    EXPECT_EQ(out[0]->egress, 2);
    EXPECT_EQ(ethernet_of(*out[0]).destination, mac(2));
    EXPECT_EQ(ethernet_of(*out[0]).source, mac(0, 0xee)) << "the bridge's";
  }
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
