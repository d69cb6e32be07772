// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/neighbours.h"

#include <gtest/gtest.h>

#include "support/frames6.h"
#include "support/traffic_bench.h"
#include "traffic/claims.h"
#include "wire/ipv6.h"

namespace tributary::traffic {
namespace {

using test::Ip;
using test::mac;

TEST(Neighbours, AnnouncesEveryHost) {
  test::Bench bench({{mac(1), Ip{10, 0, 0, 1}, 3, {}, {}}, {mac(9), Ip{10, 0, 1, 1}, 2, {}, {}}});
  EXPECT_FALSE(bench.neighbours.ready());
  bench.neighbours.send(100, bench.now, bench.out);
  EXPECT_TRUE(bench.neighbours.ready());
  ASSERT_EQ(bench.out[0].size(), 3u);
  ASSERT_EQ(bench.out[1].size(), 2u);
  const auto& arp = test::arp_of(*bench.out[1].front());
  EXPECT_EQ(arp.sender_mac, mac(9));
  EXPECT_EQ(arp.sender_address, (Ip{10, 0, 1, 1}));
  EXPECT_EQ(arp.target_address, arp.sender_address);
}

TEST(Neighbours, AnswersForItsHostsOnly) {
  test::Bench bench({{mac(1), Ip{10, 0, 0, 1}, 4, {}, {}}});
  const auto ask = [&](Ip target) {
    auto request = test::make_arp(bench.pool, wire::ArpHeader::request,
                                  {mac(77), wire::broadcast_mac, Ip{10, 0, 0, 200}, target});
    EXPECT_TRUE(bench.neighbours.take(request, 0, bench.out));
    EXPECT_EQ(request, nullptr);
  };
  ask(Ip{10, 0, 0, 5});
  EXPECT_TRUE(bench.out[0].empty());
  ask(Ip{10, 0, 0, 3});
  ASSERT_EQ(bench.out[0].size(), 1u);
  const auto& arp = test::arp_of(*bench.out[0].front());
  EXPECT_EQ(arp.operation.value(), wire::ArpHeader::reply);
  EXPECT_EQ(arp.sender_mac, mac(3));
  EXPECT_EQ(arp.sender_address, (Ip{10, 0, 0, 3}));
  EXPECT_EQ(arp.target_mac, mac(77));
  EXPECT_EQ(arp.target_address, (Ip{10, 0, 0, 200}));
}

TEST(Neighbours, AsksForTheGatewayUntilItAnswers) {
  test::Bench bench({{mac(1), Ip{10, 0, 0, 1}, 1, {}, Ip{10, 0, 0, 254}}});
  bench.neighbours.send(100, bench.now, bench.out);
  EXPECT_EQ(bench.out[0].size(), 2u);  // announcement, request
  EXPECT_EQ(bench.neighbours.unresolved(), (Ip{10, 0, 0, 254}));
  bench.neighbours.send(100, bench.now, bench.out);
  EXPECT_EQ(bench.out[0].size(), 2u);
  bench.now += Neighbours::ask_again_after;
  bench.neighbours.send(100, bench.now, bench.out);
  EXPECT_EQ(bench.out[0].size(), 3u);
  auto reply = test::make_arp(bench.pool, wire::ArpHeader::reply,
                              {mac(99), mac(1), Ip{10, 0, 0, 254}, Ip{10, 0, 0, 1}});
  EXPECT_TRUE(bench.neighbours.take(reply, 0, bench.out));
  EXPECT_TRUE(bench.neighbours.ready());
  EXPECT_EQ(bench.neighbours.next_hop(0, mac(5)), mac(99));
}

class Neighbours6 : public ::testing::Test {
 protected:
  static constexpr wire::EmbeddingPrefix prefix{0x20010db800010000, 0};
  static wire::IpAddress host(std::uint8_t number) { return prefix.embed(Ip{10, 0, 0, number}); }
  const wire::IpAddress gateway = wire::IpAddress::of_halves(0xfe80000000000000, 1);

  test::Bench bench{{{mac(1), Ip{10, 0, 0, 1}, 4, {}, gateway, prefix}}};
  PacketPtr made = bench.pool.allocate();
};

TEST_F(Neighbours6, AnnouncesEveryHostToAllNodes) {
  bench.neighbours.send(4, bench.now, bench.out);
  ASSERT_EQ(bench.out[0].size(), 4u);
  const auto packet = bench.out[0].pop();
  EXPECT_EQ(test::ethernet_of(*packet).destination, wire::group_mac_of(wire::all_nodes));
  EXPECT_EQ(test::ethernet_of(*packet).source, mac(1));
  const auto claim = read_claim(*packet);
  ASSERT_TRUE(claim);
  EXPECT_FALSE(claim->asks);
  EXPECT_EQ(claim->who, host(1));
  EXPECT_EQ(claim->mac, mac(1));
  EXPECT_TRUE(test::has_right_icmp6_checksum(*packet));
}

TEST_F(Neighbours6, AnswersForItsHostsOnly) {
  write_question(*made, host(200), mac(77), host(5));
  EXPECT_TRUE(bench.neighbours.take(made, 0, bench.out));
  EXPECT_TRUE(bench.out[0].empty());
  made = bench.pool.allocate();
  write_question(*made, host(200), mac(77), host(3));
  EXPECT_TRUE(test::has_right_icmp6_checksum(*made));
  EXPECT_TRUE(bench.neighbours.take(made, 0, bench.out));
  const auto answer = bench.out[0].pop();
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(test::ethernet_of(*answer).destination, mac(77));
  EXPECT_TRUE(test::has_right_icmp6_checksum(*answer));
  const auto claim = read_claim(*answer);
  ASSERT_TRUE(claim);
  EXPECT_FALSE(claim->asks);
  EXPECT_EQ(claim->who, host(3));
  EXPECT_EQ(claim->mac, mac(3));
  EXPECT_EQ(claim->whom, host(200));
}

// It may be somebody who wants the address for himself (RFC 4862, 5.4).
TEST_F(Neighbours6, AnswersWhoHasNoAddressYetByTheGroup) {
  write_question(*made, {}, mac(77), host(3));
  EXPECT_TRUE(bench.neighbours.take(made, 0, bench.out));
  ASSERT_EQ(bench.out[0].size(), 1u);
  EXPECT_EQ(read_claim(*bench.out[0].front())->whom, wire::all_nodes);
}

TEST_F(Neighbours6, AsksForTheGatewayUntilItAnswers) {
  bench.neighbours.send(100, bench.now, bench.out);
  EXPECT_EQ(bench.neighbours.unresolved(), gateway);
  ASSERT_EQ(bench.out[0].size(), 5u);
  for (int announced = 0; announced < 4; ++announced) {
    bench.out[0].pop();
  }
  const auto question = read_claim(*bench.out[0].front());
  ASSERT_TRUE(question);
  EXPECT_TRUE(question->asks);
  EXPECT_EQ(question->whom, gateway);
  write_answer(*made, *question, mac(99));
  EXPECT_TRUE(bench.neighbours.take(made, 0, bench.out));
  EXPECT_TRUE(bench.neighbours.ready());
  EXPECT_EQ(bench.neighbours.next_hop(0, mac(5)), mac(99));
}

// From further than a hop, it would be anybody's.
TEST_F(Neighbours6, BelievesOnlyWhatIsOfTheLink) {
  bench.neighbours.send(100, bench.now, bench.out);
  write_announcement(*made, gateway, mac(99));
  test::ip6_of(*made).hop_limit = 254;
  EXPECT_TRUE(bench.neighbours.take(made, 0, bench.out));
  EXPECT_EQ(bench.neighbours.unresolved(), gateway);
}

TEST(Neighbours, LeavesOtherPacketsAlone) {
  test::Bench bench;
  auto packet = test::make_udp(bench.pool, {mac(1), mac(2), Ip{1, 1, 1, 1}, Ip{2, 2, 2, 2}}, 1, 2);
  EXPECT_FALSE(bench.neighbours.take(packet, 0, bench.out));
  EXPECT_NE(packet, nullptr);
}

TEST(Stations, CountBeyondAnOctet) {
  const Stations stations({{mac(0xfe), Ip{10, 0, 0, 254}, 100000, {}, {}}});
  EXPECT_EQ(stations.mac(0, 2), (wire::MacAddress{{0x02, 0, 0, 0, 1, 0}}));
  EXPECT_EQ(stations.address(0, 2), (Ip{10, 0, 1, 0}));
  EXPECT_EQ(stations.find(0, Ip{10, 0, 1, 0}), 2u);
  EXPECT_EQ(stations.find(0, Ip{10, 0, 0, 253}), std::nullopt);
}

}  // namespace
}  // namespace tributary::traffic
