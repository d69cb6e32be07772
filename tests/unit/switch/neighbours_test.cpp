// SPDX-License-Identifier: BSD-3-Clause
#include "support/switch_bench.h"
#include "unit/switch/two_networks.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;

const Endpoints b_replies{mac(2), mac_b, host_b, own_b};

switching::SwitchConfig two_routed_ports() {
  switching::SwitchConfig config;
  config.name = "router";
  config.id = 1;
  config.address = Ip(10, 1, 255, 1);
  config.ports = {routed_port("a", 0, own_a), routed_port("b", 1, own_b)};
  return config;
}

TEST(Neighbours, AnswerForThePortAndTheSwitchOnly) {
  SwitchBench bench(two_routed_ports());
  const auto ask = [&](Ip target) {
    const Endpoints ends{mac(1), wire::broadcast_mac, host_a, target};
    return bench.send(0, make_arp(bench.pool, wire::ArpHeader::request, ends));
  };
  for (const auto target : {own_a, Ip(10, 1, 255, 1)}) {
    const auto answers = ask(target);
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0]->egress, 0);
    EXPECT_EQ(arp_of(*answers[0]).operation.value(), wire::ArpHeader::reply);
    EXPECT_EQ(arp_of(*answers[0]).sender_mac, mac_a);
    EXPECT_EQ(arp_of(*answers[0]).sender_address, target);
    EXPECT_EQ(arp_of(*answers[0]).target_mac, mac(1));
    EXPECT_EQ(ethernet_of(*answers[0]).destination, mac(1));
    EXPECT_EQ(ethernet_of(*answers[0]).source, mac_a);
    EXPECT_EQ(answers[0]->length, 60u);
  }
  EXPECT_TRUE(ask(host_b).empty());
  EXPECT_TRUE(ask(own_b).empty());
}

TEST(Neighbours, AskThenForwardWhatWaitedInOrder) {
  SwitchBench bench(two_routed_ports());
  const auto question = bench.send(0, make_udp(bench.pool, a_to_b, 5, 6));
  ASSERT_EQ(question.size(), 1u);
  EXPECT_EQ(question[0]->egress, 1);
  EXPECT_TRUE(ethernet_of(*question[0]).destination.is_group());
  EXPECT_EQ(arp_of(*question[0]).sender_address, own_b);
  EXPECT_EQ(arp_of(*question[0]).target_address, host_b);
  EXPECT_TRUE(bench.send(0, make_udp(bench.pool, a_to_b, 5, 7)).empty()) << "asked already";
  EXPECT_EQ(bench.ledger().absorbed, 2u);
  EXPECT_EQ(bench.device().arp(bench.now).at(0).state, forwarding::NeighbourState::resolving);
  EXPECT_EQ(bench.device().table_sizes().arp, 1u);

  const auto out = bench.send(1, make_arp(bench.pool, wire::ArpHeader::reply, b_replies));
  ASSERT_EQ(out.size(), 2u);
  for (std::uint16_t i = 0; i < 2; ++i) {
    EXPECT_EQ(out[i]->egress, 1);
    EXPECT_EQ(ethernet_of(*out[i]).destination, mac(2));
    EXPECT_EQ(ethernet_of(*out[i]).source, mac_b);
    EXPECT_EQ(l4_header<wire::UdpHeader>(*out[i]).destination_port.value(), 6 + i);
    EXPECT_EQ(ip_of(*out[i]).ttl, 63);
  }
  EXPECT_EQ(bench.ledger().sent, 3u);
  EXPECT_EQ(bench.device().arp(bench.now).at(0).state, forwarding::NeighbourState::reachable);
}

TEST(Neighbours, GiveUpAfterFiveQuestions) {
  auto config = two_routed_ports();
  config.arp = {{host_a, mac(1)}};
  SwitchBench bench(config);
  std::size_t questions = bench.send(0, make_udp(bench.pool, a_to_b, 5, 6)).size();
  std::vector<PacketPtr> out;
  while (bench.losses(DropReason::arp_unresolved) == 0) {
    const auto wait = bench.device().deadline() - bench.now;
    ASSERT_GT(wait, 0s);
    ASSERT_LE(wait, 1s);
    questions += out.size();
    out = bench.advance(wait);
  }
  EXPECT_EQ(questions, 5u);
  EXPECT_EQ(bench.now, Time{} + 1001s);
  EXPECT_EQ(bench.device().arp(bench.now).size(), 1u);
  EXPECT_EQ(bench.device().deadline(), never);
  ASSERT_EQ(out.size(), 1u) << "the sender is told (RFC 1812, 5.2.7.1)";
  EXPECT_EQ(out[0]->egress, 0);
  EXPECT_EQ(ip_of(*out[0]).destination, host_a);
  EXPECT_EQ(l4_header<wire::IcmpHeader>(*out[0]).type, wire::IcmpHeader::destination_unreachable);
  EXPECT_EQ(l4_header<wire::IcmpHeader>(*out[0]).code, 1) << "host unreachable";
}

// Packets to the silent take the room of those to others, but not the questions.
TEST(Neighbours, AreAskedForWhateverWaitsForOthers) {
  auto config = two_routed_ports();
  SwitchBench bench(config);
  for (const auto silent : {std::uint8_t{11}, std::uint8_t{12}}) {
    for (int i = 0; i < 600; ++i) {
      const Endpoints ends{mac(1), mac_a, host_a, Ip(10, 1, 2, silent)};
      bench.send(0, make_udp(bench.pool, ends, 5, 6));
    }
  }
  EXPECT_EQ(bench.drops(DropReason::arp_queue_full), 176u);
  EXPECT_EQ(bench.send(0, make_udp(bench.pool, a_to_b, 5, 6)).size(), 1u) << "the question";
  EXPECT_EQ(bench.drops(DropReason::arp_queue_full), 177u);
}

TEST(Neighbours, LearnFromWhoeverAsksThem) {
  SwitchBench bench(two_routed_ports());
  const Endpoints ask{mac(2), wire::broadcast_mac, host_b, own_b};
  bench.send(1, make_arp(bench.pool, wire::ArpHeader::request, ask));
  EXPECT_EQ(bench.send(0, make_udp(bench.pool, a_to_b, 5, 6)).at(0)->egress, 1);
}

// Whoever is there when the link comes back may have the address of the one before.
TEST(Neighbours, AreForgottenWithTheirLink) {
  SwitchBench bench(two_routed_ports());
  bench.send(1, make_arp(bench.pool, wire::ArpHeader::request,
                         {mac(2), wire::broadcast_mac, host_b, own_b}));
  bench.send(0, make_arp(bench.pool, wire::ArpHeader::request,
                         {mac(1), wire::broadcast_mac, host_a, own_a}));
  bench.device().set_port_up(1, false);
  bench.device().set_port_up(1, true);
  const auto rows = bench.device().arp(bench.now);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].address, host_a);
  const auto question = bench.send(0, make_udp(bench.pool, a_to_b, 5, 6));
  ASSERT_EQ(question.size(), 1u);
  EXPECT_EQ(ethernet_of(*question[0]).type.value(), wire::ethertype::arp);
}

TEST(Neighbours, BelieveNoImpostors) {
  SwitchBench bench(two_routed_ports());
  // Off the prefix of the port, as the switch itself, with a group address.
  const Ip claimed[] = {host_b, own_a, Ip(10, 1, 255, 1)};
  for (const auto sender : claimed) {
    const Endpoints lie{mac(66), mac_a, sender, own_a};
    bench.send(0, make_arp(bench.pool, wire::ArpHeader::reply, lie));
  }
  auto group = make_arp(bench.pool, wire::ArpHeader::reply, {mac(66), mac_a, host_a, own_a});
  reinterpret_cast<wire::ArpHeader*>(group->data() + 14)->sender_mac = wire::broadcast_mac;
  bench.send(0, std::move(group));
  EXPECT_TRUE(bench.device().arp(bench.now).empty());
}

TEST(Neighbours, DropMalformedArp) {
  SwitchBench bench(two_routed_ports());
  auto wrong =
      make_arp(bench.pool, wire::ArpHeader::request, {mac(1), wire::broadcast_mac, host_a, own_a});
  reinterpret_cast<wire::ArpHeader*>(wrong->data() + 14)->hardware_length = 8;
  EXPECT_TRUE(bench.send(0, std::move(wrong)).empty());
  auto stub =
      make_arp(bench.pool, wire::ArpHeader::request, {mac(1), wire::broadcast_mac, host_a, own_a});
  stub->length = 14 + 27;
  EXPECT_TRUE(bench.send(0, std::move(stub)).empty());
  EXPECT_EQ(bench.drops(DropReason::arp_malformed), 2u);
}

// One flipped bit would blackhole a neighbour until its entry times out.
TEST(Neighbours, BelieveNoSenderThatTheFrameDoesNotComeFrom) {
  SwitchBench bench(two_routed_ports());
  auto damaged = make_arp(bench.pool, wire::ArpHeader::reply, {mac(1), mac_a, host_a, own_a});
  reinterpret_cast<wire::ArpHeader*>(damaged->data() + 14)->sender_mac = mac(3);
  bench.send(0, std::move(damaged));
  EXPECT_TRUE(bench.device().arp(bench.now).empty());
  EXPECT_EQ(bench.drops(DropReason::arp_malformed), 1u);
}

TEST(Neighbours, BoundWhatWaits) {
  SwitchBench bench(two_routed_ports());
  for (int i = 0; i < 520; ++i) {
    bench.send(0, make_udp(bench.pool, a_to_b, 5, 6));
  }
  EXPECT_EQ(bench.drops(DropReason::arp_queue_full), 8u);
  EXPECT_EQ(bench.send(1, make_arp(bench.pool, wire::ArpHeader::reply, b_replies)).size(), 512u);
}

TEST(Neighbours, AskForOthersHoweverManyAreStatic) {
  auto config = two_routed_ports();
  config.arp_capacity = 16;
  for (std::uint8_t i = 100; i < 200; ++i) {
    config.arp.push_back({Ip(host_b.value() - 100 + i), mac(i)});
  }
  SwitchBench bench(config);
  const Endpoints known{mac(1), mac_a, host_a, Ip(host_b.value() + 99)};
  EXPECT_EQ(ethernet_of(*bench.send(0, make_udp(bench.pool, known, 5, 6)).at(0)).destination,
            mac(199));
  const Endpoints unknown{mac(1), mac_a, host_a, Ip(host_b.value() + 101)};
  const auto questions = bench.send(0, make_udp(bench.pool, unknown, 5, 6));
  ASSERT_EQ(questions.size(), 1u);
  EXPECT_EQ(arp_of(*questions[0]).target_address, Ip(host_b.value() + 101));
}

TEST(Neighbours, ResolveGatewaysBeforeTheyAreNeeded) {
  auto config = two_routed_ports();
  config.routes = {{{Ip(), 0}, {host_b}}};
  SwitchBench bench(config);
  EXPECT_LE(bench.device().deadline(), bench.now);
  const auto questions = bench.advance(0s);
  ASSERT_EQ(questions.size(), 1u);
  EXPECT_EQ(arp_of(*questions[0]).target_address, host_b);
  bench.send(1, make_arp(bench.pool, wire::ArpHeader::reply, b_replies));
  EXPECT_TRUE(bench.advance(1s).empty());
  const Endpoints far{mac(1), mac_a, host_a, Ip(8, 8, 8, 8)};
  EXPECT_EQ(ethernet_of(*bench.send(0, make_udp(bench.pool, far, 5, 6)).at(0)).destination, mac(2));
}

TEST(Neighbours, KeepAskingForAGatewayThatIsSilent) {
  auto config = two_routed_ports();
  config.routes = {{{Ip(), 0}, {host_b}}};
  SwitchBench bench(config);
  std::size_t questions = 0;
  while (bench.now < Time{} + 1010s) {
    questions += bench.advance(100ms).size();
  }
  EXPECT_GE(questions, 40u);
  EXPECT_LE(questions, 60u);
}

TEST(Neighbours, StaticOnesOfAReloadTakeNobodysRoom) {
  auto config = two_routed_ports();
  config.arp_capacity = 16;
  SwitchBench bench(config);
  for (std::uint8_t host = 100; host < 116; ++host) {
    config.arp.push_back({Ip(10, 1, 2, host), mac(host)});
  }
  bench.device().reconfigure(config);
  EXPECT_EQ(bench.device().table_sizes().arp, 16u);
  EXPECT_EQ(bench.send(0, make_udp(bench.pool, a_to_b, 5, 6)).size(), 1u) << "host_b is asked for";
  EXPECT_EQ(bench.losses(DropReason::arp_queue_full), 0u);
}

}  // namespace
}  // namespace tributary::test
