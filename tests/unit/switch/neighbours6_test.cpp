// SPDX-License-Identifier: BSD-3-Clause
#include "switch/neighbours6.h"

#include <chrono>
#include <utility>

#include "support/frames6.h"
#include "support/switch_bench.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;
using wire::Icmp6Header;
using wire::NeighbourMessage;

const auto near6 = ip6(1, 1);
const auto far6 = ip6(2, 1);
const auto near_host6 = ip6(1, 9);
const auto far_host6 = ip6(2, 9);
const auto near_mac = mac(0, 0xee);
const auto far_mac = mac(1, 0xee);
const Endpoints6 to_far{mac(1), near_mac, near_host6, far_host6};
const Endpoints6 far_says{mac(2), far_mac, far_host6, far6};

switching::SwitchConfig two_links() {
  switching::SwitchConfig config;
  config.id = 1;
  config.table_seed = 1;
  config.ports = {bridged_port("near", 0), bridged_port("far", 1)};
  config.ports[0].address6 = forwarding::InterfaceAddress6{near6, 64};
  config.ports[1].address6 = forwarding::InterfaceAddress6{far6, 64};
  return config;
}

NeighbourMessage& message_of(Packet& packet) {
  EXPECT_TRUE(has_right_icmp6_checksum(packet));
  EXPECT_EQ(ip6_of(packet).hop_limit, 255);
  return l4_header6<NeighbourMessage>(packet);
}

wire::LinkAddressOption& option_of(Packet& packet) {
  return *reinterpret_cast<wire::LinkAddressOption*>(&message_of(packet) + 1);
}

TEST(Neighbours6, AnswerForTheirInterfaceOnly) {
  SwitchBench bench(two_links());
  for (const auto& target : {near6, wire::link_local_of(near_mac)}) {
    auto answers = bench.send(0, make_solicitation(bench.pool, mac(1), near_host6, target));
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0]->egress, 0);
    EXPECT_EQ(ethernet_of(*answers[0]).destination, mac(1));
    EXPECT_EQ(ethernet_of(*answers[0]).source, near_mac);
    EXPECT_EQ(Ip6(ip6_of(*answers[0]).source), target);
    EXPECT_EQ(Ip6(ip6_of(*answers[0]).destination), near_host6);
    EXPECT_EQ(message_of(*answers[0]).icmp.type, Icmp6Header::neighbour_advertisement);
    EXPECT_EQ(message_of(*answers[0]).icmp.rest.value(), 0xe0000000u);
    EXPECT_EQ(Ip6(message_of(*answers[0]).target), target);
    EXPECT_EQ(option_of(*answers[0]).type, wire::LinkAddressOption::of_target);
    EXPECT_EQ(option_of(*answers[0]).mac, near_mac);
  }
  EXPECT_TRUE(bench.send(0, make_solicitation(bench.pool, mac(1), near_host6, far6)).empty());
  EXPECT_TRUE(bench.send(0, make_solicitation(bench.pool, mac(1), near_host6, far_host6)).empty());
}

TEST(Neighbours6, AreForgottenWithTheirLink) {
  SwitchBench bench(two_links());
  bench.send(1, make_solicitation(bench.pool, mac(2), far_host6, far6));
  ASSERT_EQ(bench.device().neighbours6(bench.now).size(), 1u);
  bench.device().set_port_up(1, false);
  bench.device().set_port_up(1, true);
  EXPECT_TRUE(bench.device().neighbours6(bench.now).empty());
}

TEST(Neighbours6, TellEverybodyThatAnAddressIsTaken) {
  SwitchBench bench(two_links());
  const auto group = wire::solicited_nodes(near6);
  auto probe = make_ip6(bench.pool, {mac(1), wire::group_mac_of(group), Ip6(), group},
                        wire::ipv6_next::icmp, sizeof(NeighbourMessage));
  ip6_of(*probe).hop_limit = 255;
  l4_header6<NeighbourMessage>(*probe).icmp.type = Icmp6Header::neighbour_solicitation;
  l4_header6<NeighbourMessage>(*probe).target = near6.octets();
  auto answers = bench.send(0, with_icmp6_checksum(std::move(probe)));
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(ethernet_of(*answers[0]).destination, wire::group_mac_of(wire::all_nodes));
  EXPECT_EQ(Ip6(ip6_of(*answers[0]).destination), wire::all_nodes);
  EXPECT_EQ(message_of(*answers[0]).icmp.rest.value(), 0xa0000000u) << "not solicited";
  EXPECT_TRUE(bench.device().neighbours6(bench.now).empty());
}

TEST(Neighbours6, AskThenForwardWhatWaitedInOrder) {
  SwitchBench bench(two_links());
  auto question = bench.send(0, make_udp6(bench.pool, to_far, 5, 6));
  ASSERT_EQ(question.size(), 1u);
  EXPECT_EQ(question[0]->egress, 1);
  const auto group = wire::solicited_nodes(far_host6);
  EXPECT_EQ(ethernet_of(*question[0]).destination, wire::group_mac_of(group));
  EXPECT_EQ(Ip6(ip6_of(*question[0]).destination), group);
  EXPECT_EQ(Ip6(ip6_of(*question[0]).source), far6);
  EXPECT_EQ(message_of(*question[0]).icmp.type, Icmp6Header::neighbour_solicitation);
  EXPECT_EQ(Ip6(message_of(*question[0]).target), far_host6);
  EXPECT_EQ(option_of(*question[0]).type, wire::LinkAddressOption::of_source);
  EXPECT_EQ(option_of(*question[0]).mac, far_mac);
  EXPECT_TRUE(bench.send(0, make_udp6(bench.pool, to_far, 5, 7)).empty()) << "asked already";
  EXPECT_EQ(bench.device().table_sizes().neighbours6, 1u);

  auto out = bench.send(1, make_advertisement(bench.pool, far_says));
  ASSERT_EQ(out.size(), 2u);
  for (std::uint16_t i = 0; i < 2; ++i) {
    EXPECT_EQ(ethernet_of(*out[i]).destination, mac(2));
    EXPECT_EQ(l4_header6<wire::UdpHeader>(*out[i]).destination_port.value(), 6 + i);
    EXPECT_EQ(ip6_of(*out[i]).hop_limit, 63);
  }
  const auto rows = bench.device().neighbours6(bench.now);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].state, forwarding::NeighbourState::reachable);
  EXPECT_EQ(rows[0].address, far_host6);
}

TEST(Neighbours6, GiveUpAfterFiveQuestions) {
  auto config = two_links();
  config.neighbours6 = {{near_host6, mac(1)}};
  SwitchBench bench(config);
  std::size_t questions = bench.send(0, make_udp6(bench.pool, to_far, 5, 6)).size();
  std::vector<PacketPtr> out;
  while (bench.losses(DropReason::nd_unresolved) == 0 && bench.now < Time{} + 1100s) {
    questions += out.size();
    out = bench.advance(100ms);
  }
  EXPECT_EQ(questions, 5u);
  EXPECT_EQ(bench.device().neighbours6(bench.now).size(), 1u);
  ASSERT_EQ(out.size(), 1u) << "the sender is told (RFC 4861, 7.2.2)";
  EXPECT_EQ(out[0]->egress, 0);
  EXPECT_EQ(l4_header6<wire::Icmp6Header>(*out[0]).type, wire::Icmp6Header::unreachable);
  EXPECT_EQ(l4_header6<wire::Icmp6Header>(*out[0]).code, 3) << "address unreachable";
}

TEST(Neighbours6, BoundWhatWaits) {
  SwitchBench bench(two_links());
  for (int i = 0; i < 520; ++i) {
    bench.send(0, make_udp6(bench.pool, to_far, 5, 6));
  }
  EXPECT_EQ(bench.drops(DropReason::nd_queue_full), 8u);
  EXPECT_EQ(bench.send(1, make_advertisement(bench.pool, far_says)).size(), 512u);
}

TEST(Neighbours6, LearnFromWhoeverAsksThem) {
  SwitchBench bench(two_links());
  bench.send(1, make_solicitation(bench.pool, mac(2), far_host6, far6));
  EXPECT_EQ(bench.send(0, make_udp6(bench.pool, to_far, 5, 6)).at(0)->egress, 1);
}

// RFC 4861, 7.2.3: a solicitation for another host does not create an entry.
TEST(Neighbours6, LearnTheLinkLayerAddressOfWhoAsksThemAndItsNextOne) {
  SwitchBench bench(two_links());
  const auto known = [&] { return bench.device().neighbours6(bench.now); };
  bench.send(1, make_solicitation(bench.pool, mac(2), far_host6, ip6(2, 77)));
  EXPECT_TRUE(known().empty());
  for (const auto& link : {mac(2), mac(3)}) {
    bench.send(1, make_solicitation(bench.pool, link, far_host6, far6));
    ASSERT_EQ(known().size(), 1u);
    EXPECT_EQ(known()[0].mac, link);
    EXPECT_EQ(known()[0].state, forwarding::NeighbourState::reachable);
  }
}

// One host may have any number of addresses of one link.
TEST(Neighbours6, AreLearnedAndAskedForWhateverOneHostInvents) {
  auto config = two_links();
  config.routes6 = {{{Ip6(), 0}, {ip6(1, 2)}}};
  SwitchBench bench(config);
  bench.send(0, make_solicitation(bench.pool, mac(3), ip6(1, 2), near6));
  for (std::uint64_t i = 1; i <= 3000; ++i) {
    const auto invented = Ip6::of_halves(0xfe80000000000000, i << 8);
    bench.send(0, make_solicitation(bench.pool, mac(1), invented, wire::link_local_of(near_mac)));
  }
  EXPECT_EQ(bench.device().table_sizes().neighbours6, config.arp_capacity);
  bench.send(1, make_solicitation(bench.pool, mac(2), far_host6, far6));
  EXPECT_EQ(bench.send(0, make_udp6(bench.pool, to_far, 5, 6)).at(0)->egress, 1);
  const Endpoints6 silent{mac(1), near_mac, near_host6, ip6(2, 10)};
  EXPECT_EQ(message_of(*bench.send(0, make_udp6(bench.pool, silent, 5, 6)).at(0)).icmp.type,
            Icmp6Header::neighbour_solicitation);
  const Endpoints6 by_gateway{mac(2), far_mac, far_host6, ip6(7, 7)};
  EXPECT_EQ(ethernet_of(*bench.send(1, make_udp6(bench.pool, by_gateway, 5, 6)).at(0)).destination,
            mac(3));
}

TEST(Neighbours6, KnowALinkLocalAddressOnEachLink) {
  SwitchBench bench(two_links());
  const auto twice = Ip6::of_halves(0xfe80000000000000, 7);
  bench.send(0, make_solicitation(bench.pool, mac(1), twice, wire::link_local_of(near_mac)));
  bench.send(1, make_solicitation(bench.pool, mac(2), twice, wire::link_local_of(far_mac)));
  const auto answered_by = [&](PortIndex port, const wire::MacAddress& to) {
    const Endpoints6 ping{mac(7), to, twice, wire::link_local_of(to)};
    return ethernet_of(*bench.send(port, make_echo6(bench.pool, ping)).at(0)).destination;
  };
  EXPECT_EQ(answered_by(0, near_mac), mac(1));
  EXPECT_EQ(answered_by(1, far_mac), mac(2));
  for (const auto& row : bench.device().neighbours6(bench.now)) {
    EXPECT_EQ(row.address, twice);
  }
}

// In the table, the number of a link is in bits that are zero in addresses.
TEST(Neighbours6, TakeNoAddressForThatOfAnotherLink) {
  SwitchBench bench(two_links());
  const auto wrong = Ip6::of_halves(0xfe80000000000001, 7);
  const auto twice = Ip6::of_halves(0xfe80000000000000, 7);
  EXPECT_TRUE(bench.send(0, make_solicitation(bench.pool, mac(66), wrong, near6)).empty());
  EXPECT_EQ(bench.drops(DropReason::ip6_martian), 1u);
  const Endpoints6 lie{mac(66), near_mac, near_host6, near6};
  bench.send(0, make_neighbour(bench.pool, Icmp6Header::neighbour_advertisement, lie, wrong));
  EXPECT_EQ(bench.drops(DropReason::nd_malformed), 1u);
  bench.send(1, make_solicitation(bench.pool, mac(2), twice, far6));
  const auto rows = bench.device().neighbours6(bench.now);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].mac, mac(2));
}

TEST(Neighbours6, TakeNoSuchAddressOnABridge) {
  switching::SwitchConfig config;
  config.ports = {bridged_port("a", 0), bridged_port("b", 1)};
  config.bridge_address6 = forwarding::InterfaceAddress6{near6, 64};
  SwitchBench bench(config);
  const auto wrong = Ip6::of_halves(0xfe80000000000001, 7);
  for (const auto& nobody : {wrong, wire::all_nodes}) {
    auto out = bench.send(0, make_solicitation(bench.pool, mac(66), nobody, near6));
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0]->egress, 1) << "no answer";
  }
  EXPECT_TRUE(bench.device().neighbours6(bench.now).empty());
}

TEST(Neighbours6, BelieveNoImpostors) {
  SwitchBench bench(two_links());
  for (const auto& claimed : {far_host6, near6, wire::link_local_of(near_mac)}) {
    const Endpoints6 lie{mac(66), near_mac, claimed, near6};
    bench.send(0, make_advertisement(bench.pool, lie));
  }
  auto of_group = make_advertisement(bench.pool, {mac(66), near_mac, near_host6, near6});
  option_of(*of_group).mac = wire::broadcast_mac;
  bench.send(0, with_icmp6_checksum(std::move(of_group)));
  EXPECT_TRUE(bench.device().neighbours6(bench.now).empty());
}

TEST(Neighbours6, ReplaceWhatIsKnownOnlyByWhatOverrides) {
  SwitchBench bench(two_links());
  bench.send(1, make_advertisement(bench.pool, far_says));
  const Endpoints6 other{mac(3), far_mac, far_host6, far6};
  bench.send(1, make_advertisement(bench.pool, other, NeighbourMessage::is_solicited));
  EXPECT_EQ(bench.device().neighbours6(bench.now).at(0).mac, mac(2));
  bench.send(1, make_advertisement(bench.pool, other));
  EXPECT_EQ(bench.device().neighbours6(bench.now).at(0).mac, mac(3));
}

TEST(Neighbours6, DropMalformedMessages) {
  SwitchBench bench(two_links());
  const auto sound = make_advertisement(bench.pool, {mac(1), near_mac, near_host6, near6});
  const auto spoilt = [&](auto spoil) {
    auto packet = bench.pool.clone(*sound);
    spoil(*packet);
    bench.send(0, with_icmp6_checksum(std::move(packet)));
  };
  spoilt([](Packet& packet) { ip6_of(packet).hop_limit = 254; });
  spoilt([](Packet& packet) { l4_header6<NeighbourMessage>(packet).icmp.code = 1; });
  spoilt([](Packet& packet) {
    l4_header6<NeighbourMessage>(packet).target = wire::all_nodes.octets();
  });
  spoilt([](Packet& packet) { l4_header6<NeighbourMessage>(packet).target = {}; });
  spoilt([](Packet& packet) { ip6_of(packet).source = wire::all_nodes.octets(); });
  spoilt([](Packet& packet) { option_of(packet).mac = wire::broadcast_mac; });
  spoilt([](Packet& packet) { option_of(packet).length = 0; });
  spoilt([](Packet& packet) { option_of(packet).length = 2; });
  spoilt([](Packet& packet) { ip6_of(packet).payload_length = std::uint16_t{23}; });
  auto damaged = bench.pool.clone(*sound);
  option_of(*damaged).mac = mac(9);
  bench.send(0, std::move(damaged));
  EXPECT_EQ(bench.drops(DropReason::nd_malformed), 9u);
  EXPECT_EQ(bench.drops(DropReason::ip6_martian), 1u) << "of a group";
  EXPECT_TRUE(bench.device().neighbours6(bench.now).empty());
  spoilt([](Packet&) {});
  EXPECT_EQ(bench.device().neighbours6(bench.now).size(), 1u);
}

TEST(Neighbours6, ResolveGatewaysBeforeTheyAreNeeded) {
  auto config = two_links();
  config.routes6 = {{{Ip6(), 0}, {far_host6}}};
  SwitchBench bench(config);
  const auto questions = bench.advance(0s);
  ASSERT_EQ(questions.size(), 1u);
  EXPECT_EQ(Ip6(message_of(*questions[0]).target), far_host6);
  bench.send(1, make_advertisement(bench.pool, far_says));
  EXPECT_TRUE(bench.advance(1s).empty());
}

TEST(Neighbours6, TeachTheOtherCores) {
  SwitchBench first(two_links(), {0, 2});
  SwitchBench second(two_links(), {1, 2});
  EXPECT_EQ(second.send(0, make_udp6(second.pool, to_far, 5, 6)).size(), 1u) << "asks";
  first.send(1, make_advertisement(first.pool, far_says));
  ASSERT_EQ(first.table_updates.size(), 1u);
  second.device().learn(*first.table_updates[0], second.now);
  EXPECT_EQ(second.advance(0s).at(0)->egress, 1) << "what waited";
}

// The frame is published because the bridge has learned its sender.
TEST(Neighbours6, TeachTheOtherCoresOnlyWhatTheyHearThemselves) {
  switching::SwitchConfig config;
  config.ports = {bridged_port("a", 0), bridged_port("b", 1)};
  config.bridge_address6 = forwarding::InterfaceAddress6{near6, 64};
  SwitchBench first(config, {0, 2});
  SwitchBench second(config, {1, 2});
  const auto taught = [&](const wire::MacAddress& to) {
    first.send(0, make_advertisement(first.pool, {mac(1), to, near_host6, near6}));
    for (const auto& update : first.table_updates) {
      second.device().learn(*update, second.now);
    }
    EXPECT_EQ(second.device().fdb(second.now).size(), first.device().fdb(first.now).size());
    EXPECT_EQ(second.device().neighbours6(second.now).size(),
              first.device().neighbours6(first.now).size());
    return second.device().neighbours6(second.now).size();
  };
  EXPECT_EQ(taught(mac(2)), 0u) << "of another station";
  auto echo = make_advertisement(first.pool, {mac(1), near_mac, near_host6, near6});
  l4_header6<wire::Icmp6Header>(*echo).type = wire::Icmp6Header::echo_request;
  first.send(0, with_icmp6_checksum(std::move(echo)));
  for (const auto& update : first.table_updates) {
    second.device().learn(*update, second.now);
  }
  EXPECT_EQ(second.device().neighbours6(second.now).size(), 0u) << "it only looks like one";
  EXPECT_EQ(taught(near_mac), 1u);
}

}  // namespace
}  // namespace tributary::test
