// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <vector>

#include "unit/switch/three_hosts.h"

// Sums go on over the bridge that their parts came by.
namespace tributary::test {
namespace {

using namespace std::chrono_literals;

TEST(BridgedSums, SumsOnABridgeByTheFramesOwnDestination) {
  SwitchBench bench(bridged());
  bench.send(2, make_udp(bench.pool, {mac(2), mac(9), host(2), host(9)}, 5, 6));
  EXPECT_TRUE(bench.send(0, make_canary(bench.pool, contribution(0, mac(2)), Elements{3})).empty());
  const auto out = bench.send(1, make_canary(bench.pool, contribution(1, mac(2)), Elements{4}));
  ASSERT_EQ(out.size(), 1u);
  expect_sum(*out[0], 7, Ip(10, 0, 0, 254));
  EXPECT_EQ(ethernet_of(*out[0]).source, mac(0, 0xee)) << "the bridge's";
}

// Another switch behind that port, which knows as little, would add it up and flood it back.
TEST(BridgedSums, ASumForAnUnknownStationIsNotFloodedToWhereItsPacketCameFrom) {
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

TEST(BridgedSums, ASumForAnUnknownStationIsNotFloodedToASwitchWithAPartInIt) {
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

TEST(BridgedSums, OfTwoBridgesThatBelieveInEachOtherNoneReturnsASum) {
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

TEST(BridgedSums, TransitOnABridgeKeepsItsSourceAddress) {
  SwitchBench bench(bridged());
  auto spec = contribution(0, mac(2));
  spec.bypass = true;
  const auto out = bench.send(0, make_canary(bench.pool, spec, Elements{3}));
  ASSERT_EQ(out.size(), 2u) << "leader's port not known yet";
  EXPECT_EQ(ethernet_of(*out[0]).source, mac(0));
}

// Another switch on the bridge sends to the leader's address. Neither may know the leader's port.
TEST(BridgedSums, DirectlyOverEthernetNothingTurnsBackOnABridge) {
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
TEST(BridgedSums, ASumGoesToALeaderBehindThePortOfAHostWithAPartInIt) {
  SwitchBench bench(bridged());
  show_leader(bench, 0);
  EXPECT_TRUE(bench.send(0, make_canary(bench.pool, contribution(0, mac(2)), Elements{3})).empty());
  const auto out = bench.send(1, make_canary(bench.pool, contribution(1, mac(2)), Elements{4}));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0]->egress, 0);
}

// An ordinary switch behind the port has both hosts, and the contribution is for the next switch
// that adds up.
TEST(BridgedSums, DirectlyOverEthernetTheLeaderMayBeBehindThePortOfAContribution) {
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

TEST(BridgedSums, DirectlyOverEthernetASumDoesNotTurnBackOnABridge) {
  auto config = bridged();
  config.arp = {{host(2), mac(2)}};
  for (const auto& order : both_orders) {
    SwitchBench bench(config);
    EXPECT_TRUE(sum_on_a_bridge(bench, 1, order).empty());
    EXPECT_EQ(bench.losses(DropReason::bridge_same_port), 1u);
  }
}

TEST(BridgedSums, DirectlyOverEthernetASumGoesOnInTransit) {
  for (const auto& order : both_orders) {
    SwitchBench bench(bridged());
    const auto out = sum_on_a_bridge(bench, 2, order);
    ASSERT_EQ(out.size(), 1u) << "without ARP";
    EXPECT_EQ(out[0]->egress, 2);
    EXPECT_EQ(ethernet_of(*out[0]).destination, mac(2));
    EXPECT_EQ(ethernet_of(*out[0]).source, mac(0, 0xee)) << "the bridge's";
  }
}

// A switch sends its sum, and later what came too late for that.
CanarySpec straggler_of(std::uint8_t from, const wire::MacAddress& to) {
  auto spec = sum_of(from, to);
  spec.fingerprint += 50;
  return spec;
}

switching::SwitchConfig bridged_to_known_host() {
  auto config = bridged();
  config.arp = {{host(2), mac(2)}};
  return config;
}

TEST(BridgedSums, ASumDoesNotGoBackToASwitchThatFirstSentToThisOne) {
  for (const bool routed_first : {true, false}) {
    SwitchBench bench(bridged_to_known_host());
    show_leader(bench, 1);
    const std::array<wire::MacAddress, 2> ways{mac(0, 0xee), mac(2)};
    const auto& first = ways[routed_first ? 0 : 1];
    const auto& second = ways[routed_first ? 1 : 0];
    bench.send(1, make_canary(bench.pool, sum_of(1, first), Elements{1}));
    EXPECT_TRUE(
        bench.send(1, make_canary(bench.pool, straggler_of(1, second), Elements{2})).empty());
    EXPECT_EQ(bench.losses(DropReason::bridge_same_port), 1u);
  }
}

// The topology changes while the block is gathered.
TEST(BridgedSums, ASumDoesNotGoBackToASwitchThatSendsByAnotherPortNow) {
  SwitchBench bench(bridged());
  show_leader(bench, 1);
  bench.send(0, make_canary(bench.pool, sum_of(1, mac(2)), Elements{1}));
  const auto out = bench.send(1, make_canary(bench.pool, straggler_of(1, mac(2)), Elements{2}));
  EXPECT_EQ(bench.drops(DropReason::bridge_same_port), 1u) << "it goes by itself";
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0]->egress, 1);
  EXPECT_EQ(canary_header(*out[0])->counter.value(), 1);
  EXPECT_EQ(first_element(*out[0]), 1) << "what came by this port is not in it";
}

// What was sent to this switch is as if it had begun here.
TEST(BridgedSums, AFloodedSumIsKeptFromThePortsOfPartsInTransit) {
  SwitchBench bench(bridged_to_known_host());
  bench.send(0, make_canary(bench.pool, sum_of(0, mac(0, 0xee)), Elements{1}));
  const auto out = bench.send(1, make_canary(bench.pool, sum_of(1, mac(2)), Elements{2}));
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0]->egress, 0);
  EXPECT_EQ(out[1]->egress, 2);
}

}  // namespace
}  // namespace tributary::test
