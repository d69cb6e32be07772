// SPDX-License-Identifier: BSD-3-Clause
#include "support/switch_bench.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;

const Ip bridge_ip(10, 0, 0, 254);

switching::SwitchConfig three_bridged_ports() {
  switching::SwitchConfig config;
  config.name = "bridge";
  config.id = 1;
  config.bridge_address = forwarding::InterfaceAddress{bridge_ip, 24};
  config.ports = {bridged_port("a", 0), bridged_port("b", 1), bridged_port("c", 2)};
  return config;
}

Endpoints between(std::uint8_t from, std::uint8_t to) {
  return {mac(from), mac(to), Ip(10, 0, 0, from), Ip(10, 0, 0, to)};
}

TEST(Bridge, FloodsUnknownThenForwardsLearned) {
  SwitchBench bench(three_bridged_ports());
  const auto flooded = bench.send(0, make_udp(bench.pool, between(1, 2), 5, 6));
  ASSERT_EQ(flooded.size(), 2u);
  EXPECT_EQ(flooded[0]->egress, 1);
  EXPECT_EQ(flooded[1]->egress, 2);
  EXPECT_EQ(bench.ledger().forwarded, 1u);
  EXPECT_EQ(bench.ledger().sent, 1u);

  const auto answer = bench.send(2, make_udp(bench.pool, between(2, 1), 6, 5));
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_EQ(answer[0]->egress, 0);
  const auto learned = bench.send(0, make_udp(bench.pool, between(1, 2), 5, 6));
  ASSERT_EQ(learned.size(), 1u);
  EXPECT_EQ(learned[0]->egress, 2);
}

TEST(Bridge, ForwardsFramesUnchanged) {
  SwitchBench bench(three_bridged_ports());
  auto frame = make_udp(bench.pool, between(1, 2), 5, 6, 700);
  const std::vector<std::byte> before(frame->bytes().begin(), frame->bytes().end());
  for (const auto& packet : bench.send(0, std::move(frame))) {
    const std::vector<std::byte> after(packet->bytes().begin(), packet->bytes().end());
    EXPECT_EQ(before, after);
  }
}

TEST(Bridge, ForwardsWhatIsNotIp) {
  SwitchBench bench(three_bridged_ports());
  const auto out = bench.send(0, make_frame(bench.pool, mac(2), mac(1), wire::ethertype::ipv6, 60));
  EXPECT_EQ(out.size(), 2u);
  const auto llc = bench.send(0, make_frame(bench.pool, mac(2), mac(1), 0x0026, 60));
  EXPECT_EQ(llc.size(), 2u);
}

TEST(Bridge, DropsWhatAPortMayNotSend) {
  auto config = three_bridged_ports();
  config.ports[2].learning.addresses_max = 1;
  SwitchBench bench(config);
  bench.send(0, make_udp(bench.pool, between(1, 9), 5, 6));
  EXPECT_EQ(bench.send(2, make_udp(bench.pool, between(2, 1), 5, 6)).size(), 1u);
  EXPECT_TRUE(bench.send(2, make_udp(bench.pool, between(1, 2), 5, 6)).empty()) << "a's address";
  EXPECT_EQ(bench.drops(DropReason::bridge_port_security), 1u);
  const auto to_a = bench.send(1, make_udp(bench.pool, between(3, 1), 5, 6));
  ASSERT_EQ(to_a.size(), 1u);
  EXPECT_EQ(to_a[0]->egress, 0) << "its station has not moved";
}

TEST(Bridge, NeverSendsBackWhereItCameFrom) {
  SwitchBench bench(three_bridged_ports());
  bench.send(0, make_udp(bench.pool, between(1, 9), 5, 6));
  EXPECT_TRUE(bench.send(0, make_udp(bench.pool, between(2, 1), 5, 6)).empty());
  EXPECT_EQ(bench.drops(DropReason::bridge_same_port), 1u);
}

TEST(Bridge, DropsGroupSourcesAndReservedGroups) {
  SwitchBench bench(three_bridged_ports());
  const wire::MacAddress spanning_tree{{0x01, 0x80, 0xc2, 0, 0, 0}};
  const wire::MacAddress group{{0x01, 0x80, 0xc2, 0, 0, 0x10}};
  EXPECT_TRUE(bench.send(0, make_frame(bench.pool, spanning_tree, mac(1), 0x0026, 50)).empty());
  EXPECT_EQ(bench.drops(DropReason::bridge_reserved), 1u);
  EXPECT_TRUE(bench.send(0, make_frame(bench.pool, mac(1), group, 0x0800, 50)).empty());
  EXPECT_EQ(bench.drops(DropReason::source_group_mac), 1u);
  EXPECT_EQ(bench.send(0, make_frame(bench.pool, group, mac(1), 0x0026, 50)).size(), 2u);
}

// A station may obey what was sent to its own address (IEEE 802.3, 31 and 31B).
TEST(Bridge, ForwardsNoMacControlToWhomeverItIs) {
  SwitchBench bench(three_bridged_ports());
  bench.send(2, make_udp(bench.pool, between(2, 9), 5, 6));
  EXPECT_EQ(bench.send(0, make_udp(bench.pool, between(1, 2), 5, 6)).size(), 1u);
  for (const auto& destination : {mac(2), wire::broadcast_mac}) {
    EXPECT_TRUE(
        bench.send(0, make_frame(bench.pool, destination, mac(1), wire::ethertype::mac_control, 46))
            .empty());
  }
  EXPECT_EQ(bench.drops(DropReason::bridge_reserved), 2u);
}

TEST(Bridge, ForgetsAfterTheAgeingTimeAndWhenAPortGoesDown) {
  auto config = three_bridged_ports();
  config.fdb_ageing = 10s;
  SwitchBench bench(config);
  bench.send(2, make_udp(bench.pool, between(2, 9), 5, 6));
  EXPECT_EQ(bench.send(0, make_udp(bench.pool, between(1, 2), 5, 6)).size(), 1u);
  bench.advance(11s);
  EXPECT_EQ(bench.send(0, make_udp(bench.pool, between(1, 2), 5, 6)).size(), 2u);

  bench.send(2, make_udp(bench.pool, between(2, 1), 5, 6));
  bench.device().set_port_up(2, false);
  const auto out = bench.send(0, make_udp(bench.pool, between(1, 2), 5, 6));
  ASSERT_EQ(out.size(), 1u) << "flooded to the port that is left";
  EXPECT_EQ(out[0]->egress, 1);
  EXPECT_TRUE(bench.send(2, make_udp(bench.pool, between(2, 1), 5, 6)).empty());
  EXPECT_EQ(bench.drops(DropReason::port_down), 1u);
  bench.device().set_port_up(1, false);
  EXPECT_TRUE(bench.send(0, make_udp(bench.pool, between(1, 2), 5, 6)).empty());
  EXPECT_EQ(bench.drops(DropReason::bridge_no_port), 1u);
}

TEST(Bridge, StaticEntriesHoldAgainstImpostors) {
  auto config = three_bridged_ports();
  config.fdb = {{mac(2), "c"}};
  SwitchBench bench(config);
  bench.send(1, make_udp(bench.pool, between(2, 9), 5, 6));
  const auto out = bench.send(0, make_udp(bench.pool, between(1, 2), 5, 6));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0]->egress, 2);
}

TEST(Bridge, CountsCopiesThatCouldNotBeMade) {
  SwitchBench bench(three_bridged_ports(), {}, 1);
  const auto out = bench.send(0, make_udp(bench.pool, between(1, 2), 5, 6));
  EXPECT_EQ(out.size(), 1u);
  EXPECT_EQ(bench.losses(DropReason::no_buffer), 1u);
}

TEST(Bridge, AnswersArpAndEchoAtItsOwnAddress) {
  SwitchBench bench(three_bridged_ports());
  Endpoints ask{mac(1), wire::broadcast_mac, Ip(10, 0, 0, 1), bridge_ip};
  const auto answers = bench.send(1, make_arp(bench.pool, wire::ArpHeader::request, ask));
  ASSERT_EQ(answers.size(), 1u) << "answered, not flooded";
  EXPECT_EQ(answers[0]->egress, 1);
  const auto own_mac = arp_of(*answers[0]).sender_mac;
  EXPECT_EQ(own_mac, mac(0, 0xee));
  EXPECT_EQ(ethernet_of(*answers[0]).source, own_mac);

  const Endpoints ping{mac(1), own_mac, Ip(10, 0, 0, 1), bridge_ip};
  const auto replies = bench.send(1, make_echo(bench.pool, ping));
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(replies[0]->egress, 1);
  EXPECT_EQ(ip_of(*replies[0]).source, bridge_ip);
  EXPECT_EQ(ethernet_of(*replies[0]).destination, mac(1));
}

TEST(Bridge, FloodsArpForOthers) {
  SwitchBench bench(three_bridged_ports());
  const Endpoints ask{mac(1), wire::broadcast_mac, Ip(10, 0, 0, 1), Ip(10, 0, 0, 2)};
  EXPECT_EQ(bench.send(1, make_arp(bench.pool, wire::ArpHeader::request, ask)).size(), 2u);
}

TEST(Bridge, WithoutAnAddressServesNobody) {
  auto config = three_bridged_ports();
  config.bridge_address.reset();
  SwitchBench bench(config);
  const Endpoints ping{mac(1), mac(0, 0xee), Ip(10, 0, 0, 1), bridge_ip};
  EXPECT_TRUE(bench.send(1, make_echo(bench.pool, ping)).empty());
  EXPECT_EQ(bench.drops(DropReason::local_unserved), 1u);
  const Endpoints ask{mac(1), wire::broadcast_mac, Ip(10, 0, 0, 1), bridge_ip};
  EXPECT_EQ(bench.send(1, make_arp(bench.pool, wire::ArpHeader::request, ask)).size(), 2u);
}

TEST(Bridge, RoutesBetweenItsPrefixAndARoutedPort) {
  auto config = three_bridged_ports();
  config.ports.push_back(routed_port("up", 3, Ip(10, 9, 0, 1)));
  config.arp = {{Ip(10, 9, 0, 2), mac(9)}, {Ip(10, 0, 0, 1), mac(1)}};
  SwitchBench bench(config);
  bench.send(2, make_udp(bench.pool, between(1, 9), 5, 6));
  const Endpoints out_of_the_bridge{mac(1), mac(0, 0xee), Ip(10, 0, 0, 1), Ip(10, 9, 0, 2)};
  const auto up = bench.send(2, make_udp(bench.pool, out_of_the_bridge, 5, 6));
  ASSERT_EQ(up.size(), 1u);
  EXPECT_EQ(up[0]->egress, 3);
  EXPECT_EQ(ethernet_of(*up[0]).destination, mac(9));
  const Endpoints into_the_bridge{mac(9), mac(3, 0xee), Ip(10, 9, 0, 2), Ip(10, 0, 0, 1)};
  const auto down = bench.send(3, make_udp(bench.pool, into_the_bridge, 5, 6));
  ASSERT_EQ(down.size(), 1u);
  EXPECT_EQ(down[0]->egress, 2);
  EXPECT_EQ(ethernet_of(*down[0]).destination, mac(1));
  EXPECT_EQ(ip_of(*down[0]).ttl, 63);
}

}  // namespace
}  // namespace tributary::test
