// SPDX-License-Identifier: BSD-3-Clause
#include "support/switch_bench.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;

const Ip own_a(10, 1, 1, 1);
const Ip own_b(10, 1, 2, 1);

switching::SwitchConfig two_routed_ports() {
  switching::SwitchConfig config;
  config.name = "router";
  config.id = 1;
  config.address = Ip(10, 1, 255, 1);
  config.ports = {routed_port("a", 0, own_a), routed_port("b", 1, own_b)};
  return config;
}

TEST(Router, AnswersArpAndEcho) {
  SwitchBench bench(two_routed_ports());
  const Endpoints ask{mac(1), wire::broadcast_mac, Ip(10, 1, 1, 9), own_a};
  const auto answers = bench.send(0, make_arp(bench.pool, wire::ArpHeader::request, ask));
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0]->egress, 0);
  EXPECT_EQ(arp_of(*answers[0]).sender_mac, mac(0, 0xee));
  EXPECT_EQ(arp_of(*answers[0]).sender_address, own_a);
  EXPECT_EQ(ethernet_of(*answers[0]).destination, mac(1));

  for (const auto target : {own_a, own_b, Ip(10, 1, 255, 1)}) {
    const Endpoints ping{mac(1), mac(0, 0xee), Ip(10, 1, 1, 9), target};
    const auto replies = bench.send(0, make_echo(bench.pool, ping));
    ASSERT_EQ(replies.size(), 1u);
    auto& reply = *replies[0];
    EXPECT_EQ(reply.egress, 0);
    EXPECT_EQ(ip_of(reply).source, target);
    EXPECT_EQ(wire::internet_checksum(l4_of(reply)), 0);
  }
}

TEST(Router, ResolvesThenForwardsWhatWaited) {
  SwitchBench bench(two_routed_ports());
  const Endpoints ends{mac(1), mac(0, 0xee), Ip(10, 1, 1, 9), Ip(10, 1, 2, 9)};
  const auto question = bench.send(0, make_udp(bench.pool, ends, 5, 6));
  ASSERT_EQ(question.size(), 1u);
  EXPECT_EQ(question[0]->egress, 1);
  EXPECT_EQ(arp_of(*question[0]).target_address, Ip(10, 1, 2, 9));
  EXPECT_EQ(bench.ledger().absorbed, 1u);

  const Endpoints reply{mac(2), mac(1, 0xee), Ip(10, 1, 2, 9), own_b};
  const auto released = bench.send(1, make_arp(bench.pool, wire::ArpHeader::reply, reply));
  ASSERT_EQ(released.size(), 1u);
  EXPECT_EQ(released[0]->egress, 1);
  EXPECT_EQ(ethernet_of(*released[0]).destination, mac(2));
  EXPECT_EQ(ethernet_of(*released[0]).source, mac(1, 0xee));
  EXPECT_EQ(ip_of(*released[0]).ttl, 63);
  EXPECT_EQ(wire::internet_checksum(std::as_bytes(std::span(&ip_of(*released[0]), 1))), 0);
}

}  // namespace
}  // namespace tributary::test
