// SPDX-License-Identifier: BSD-3-Clause
#include "switch/router.h"

#include <array>
#include <random>
#include <set>

#include "protocols/canary/engine/drop_reasons.h"
#include "protocols/canary/wire.h"
#include "support/switch_bench.h"
#include "unit/switch/two_networks.h"
#include "wire/checksum.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;

// Hosts behind a and b are known; a second uplink d beside c shares the default route.
switching::SwitchConfig four_routed_ports() {
  switching::SwitchConfig config;
  config.name = "router";
  config.id = 1;
  config.address = Ip(10, 1, 255, 1);
  config.ports = {routed_port("a", 0, own_a), routed_port("b", 1, own_b),
                  routed_port("c", 2, Ip(10, 9, 1, 1), 30),
                  routed_port("d", 3, Ip(10, 9, 2, 1), 30)};
  config.routes = {{{Ip(), 0}, {Ip(10, 9, 1, 2), Ip(10, 9, 2, 2)}}};
  config.arp = {
      {host_a, mac(1)}, {host_b, mac(2)}, {Ip(10, 9, 1, 2), mac(3)}, {Ip(10, 9, 2, 2), mac(4)}};
  return config;
}

bool has_right_checksum(Packet& packet) {
  return wire::internet_checksum(std::as_bytes(std::span(&ip_of(packet), 1))) == 0;
}

TEST(Router, ForwardsBetweenItsPorts) {
  SwitchBench bench(four_routed_ports());
  const auto out = bench.send(0, make_udp(bench.pool, a_to_b, 5, 6));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0]->egress, 1);
  EXPECT_EQ(ethernet_of(*out[0]).destination, mac(2));
  EXPECT_EQ(ethernet_of(*out[0]).source, mac_b);
  EXPECT_EQ(ip_of(*out[0]).ttl, 63);
  EXPECT_TRUE(has_right_checksum(*out[0]));
  EXPECT_EQ(bench.ledger().forwarded, 1u);
}

TEST(Router, IgnoresFramesForOtherMacAddresses) {
  SwitchBench bench(four_routed_ports());
  auto ends = a_to_b;
  ends.destination_mac = mac(77);
  EXPECT_TRUE(bench.send(0, make_udp(bench.pool, ends, 5, 6)).empty());
  EXPECT_EQ(bench.drops(DropReason::other_mac), 1u);
}

TEST(Router, LeavesOnTheirLinkWhatHasAddressesOfOneLink) {
  auto from_one = a_to_b;
  from_one.source = Ip(169, 254, 7, 7);
  auto to_one = a_to_b;
  to_one.destination = Ip(169, 254, 7, 7);
  for (const bool express : {true, false}) {
    auto config = four_routed_ports();
    config.express_lane = express;
    SwitchBench bench(config);
    EXPECT_TRUE(bench.send(0, make_udp(bench.pool, from_one, 5, 6)).empty());
    EXPECT_TRUE(bench.send(0, make_udp(bench.pool, to_one, 5, 6)).empty()) << "the default route";
    EXPECT_EQ(bench.drops(DropReason::ip_martian), 2u);
  }
}

TEST(Router, AnswersEchoAtAllItsAddresses) {
  SwitchBench bench(four_routed_ports());
  for (const auto target : {own_a, own_b, Ip(10, 1, 255, 1)}) {
    const Endpoints ping{mac(1), mac_a, host_a, target};
    const auto replies = bench.send(0, make_echo(bench.pool, ping, 57));
    ASSERT_EQ(replies.size(), 1u);
    auto& reply = *replies[0];
    EXPECT_EQ(reply.egress, 0);
    EXPECT_EQ(ip_of(reply).source, target);
    EXPECT_EQ(ip_of(reply).destination, host_a);
    EXPECT_EQ(ip_of(reply).ttl, 64);
    EXPECT_EQ(l4_header<wire::IcmpHeader>(reply).type, wire::IcmpHeader::echo_reply);
    EXPECT_EQ(wire::internet_checksum(l4_of(reply)), 0);
    EXPECT_TRUE(has_right_checksum(reply));
  }
  EXPECT_EQ(bench.ledger().absorbed, 3u);
  EXPECT_EQ(bench.ledger().sent, 3u);
}

TEST(Router, DropsDamagedEcho) {
  SwitchBench bench(four_routed_ports());
  auto echo = make_echo(bench.pool, {mac(1), mac_a, host_a, own_a});
  l4_of(*echo).back() ^= std::byte{1};
  EXPECT_TRUE(bench.send(0, std::move(echo)).empty());
  EXPECT_EQ(bench.drops(DropReason::icmp_malformed), 1u);
}

TEST(Router, ExpiredTtlIsAnsweredWithTimeExceeded) {
  SwitchBench bench(four_routed_ports());
  for (const auto ttl : {std::uint8_t{0}, std::uint8_t{1}}) {
    auto packet = make_udp(bench.pool, a_to_b, 5, 6);
    ip_of(*packet).ttl = ttl;
    wire::finish_ipv4(ip_of(*packet));
    const auto out = bench.send(0, std::move(packet));
    ASSERT_EQ(out.size(), 1u);
    auto& error = *out[0];
    EXPECT_EQ(error.egress, 0);
    EXPECT_EQ(ip_of(error).source, own_a);
    EXPECT_EQ(ip_of(error).destination, host_a);
    EXPECT_TRUE(has_right_checksum(error));
    EXPECT_EQ(l4_header<wire::IcmpHeader>(error).type, wire::IcmpHeader::time_exceeded);
    EXPECT_EQ(wire::internet_checksum(l4_of(error)), 0);
    const auto& quoted =
        *reinterpret_cast<wire::Ipv4Header*>(l4_of(error).data() + sizeof(wire::IcmpHeader));
    EXPECT_EQ(quoted.destination, host_b);
  }
  EXPECT_EQ(bench.drops(DropReason::ttl_exceeded), 2u);
}

TEST(Router, ErrorsAreLimitedInRateAndNeverAboutErrors) {
  SwitchBench bench(four_routed_ports());
  std::size_t answered = 0;
  for (int i = 0; i < 200; ++i) {
    auto packet = make_udp(bench.pool, a_to_b, 5, 6);
    ip_of(*packet).ttl = 1;
    wire::finish_ipv4(ip_of(*packet));
    answered += bench.send(0, std::move(packet)).size();
  }
  EXPECT_EQ(answered, 50u);
  bench.advance(1s);
  auto error = make_echo(bench.pool, a_to_b);
  l4_header<wire::IcmpHeader>(*error).type = wire::IcmpHeader::time_exceeded;
  ip_of(*error).ttl = 1;
  wire::finish_ipv4(ip_of(*error));
  EXPECT_TRUE(bench.send(0, std::move(error)).empty());
}

TEST(Router, DropsWhatMayNotBeRouted) {
  SwitchBench bench(four_routed_ports());
  const auto send = [&](Ip source, Ip destination) {
    EXPECT_TRUE(
        bench.send(0, make_udp(bench.pool, {mac(1), mac_a, source, destination}, 5, 6)).empty());
  };
  send(Ip(127, 0, 0, 1), host_b);
  send(Ip(0, 0, 0, 0), host_b);
  send(Ip(224, 0, 0, 1), host_b);
  send(Ip(255, 255, 255, 255), host_b);
  send(host_a, Ip(127, 0, 0, 1));
  send(host_a, Ip(0, 1, 2, 3));
  EXPECT_EQ(bench.drops(DropReason::ip_martian), 6u);
  send(host_a, Ip(224, 0, 0, 5));
  send(host_a, Ip(255, 255, 255, 255));
  send(host_a, Ip(10, 1, 2, 255));
  send(host_a, Ip(10, 1, 2, 0));
  EXPECT_EQ(bench.drops(DropReason::ip_not_for_us), 4u);
}

TEST(Router, DropsDamagedHeaders) {
  SwitchBench bench(four_routed_ports());
  auto wrong_sum = make_udp(bench.pool, a_to_b, 5, 6);
  ip_of(*wrong_sum).tos = 4;
  EXPECT_TRUE(bench.send(0, std::move(wrong_sum)).empty());
  EXPECT_EQ(bench.drops(DropReason::ip_checksum), 1u);
  auto too_long = make_udp(bench.pool, a_to_b, 5, 6);
  ip_of(*too_long).total_length = std::uint16_t{4000};
  EXPECT_TRUE(bench.send(0, std::move(too_long)).empty());
  auto version = make_udp(bench.pool, a_to_b, 5, 6);
  ip_of(*version).version_ihl = 0x65;
  EXPECT_TRUE(bench.send(0, std::move(version)).empty());
  EXPECT_EQ(bench.drops(DropReason::ip_malformed), 2u);
  auto stub = make_udp(bench.pool, a_to_b, 5, 6);
  stub->length = 9;
  EXPECT_TRUE(bench.send(0, std::move(stub)).empty());
  EXPECT_EQ(bench.drops(DropReason::truncated), 1u);
  EXPECT_TRUE(
      bench.send(0, make_frame(bench.pool, mac_a, mac(1), wire::ethertype::ipv6, 60)).empty());
  EXPECT_EQ(bench.drops(DropReason::unknown_ethertype), 1u);
  EXPECT_TRUE(
      bench.send(0, make_frame(bench.pool, mac_a, mac(1), wire::ethertype::canary, 60)).empty());
  EXPECT_EQ(bench.drops(canary::drop::not_served), 1u);
}

TEST(Router, TakesPriorityTagsOff) {
  for (const bool express : {true, false}) {
    auto config = four_routed_ports();
    config.express_lane = express;
    SwitchBench bench(config);
    const auto with_tag = [&](unsigned control) {
      return tagged(make_udp(bench.pool, a_to_b, 5, 6), control);
    };
    const auto plain = bench.send(0, make_udp(bench.pool, a_to_b, 5, 6));
    const auto out = bench.send(0, with_tag(3u << wire::vlan_priority_shift));
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0]->egress, 1);
    EXPECT_TRUE(std::ranges::equal(out[0]->bytes(), plain.at(0)->bytes()));
    EXPECT_TRUE(bench.send(0, with_tag(10)).empty());
    EXPECT_TRUE(bench.send(0, tagged(with_tag(0), 0)).empty()) << "one tag only";
    EXPECT_EQ(bench.drops(DropReason::unknown_ethertype), 2u);
  }
}

TEST(Router, TellsTheSenderWhatIsTooLarge) {
  auto config = four_routed_ports();
  config.ports[1].mtu = 600;
  SwitchBench bench(config);
  const auto out = bench.send(0, make_udp(bench.pool, a_to_b, 5, 6, 601));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(l4_header<wire::IcmpHeader>(*out[0]).type, wire::IcmpHeader::destination_unreachable);
  EXPECT_EQ(l4_header<wire::IcmpHeader>(*out[0]).code, 4);
  EXPECT_EQ(l4_header<wire::IcmpHeader>(*out[0]).rest.value(), 600u);
  EXPECT_EQ(bench.drops(DropReason::fragmentation_needed), 1u);
  EXPECT_EQ(bench.send(0, make_udp(bench.pool, a_to_b, 5, 6, 600 - 28)).at(0)->egress, 1);
}

TEST(Router, TrimsWhatLiesBehindTheIpPacket) {
  SwitchBench bench(four_routed_ports());
  auto packet = make_udp(bench.pool, a_to_b, 5, 6, 100);
  packet->length += 200;
  EXPECT_EQ(bench.send(0, std::move(packet)).at(0)->length, 14u + 20 + 8 + 100);
  auto padded = make_udp(bench.pool, a_to_b, 5, 6, 1);
  padded->length = 60;
  EXPECT_EQ(bench.send(0, std::move(padded)).at(0)->length, 60u);
}

TEST(Router, UnservedTrafficForItselfIsAnsweredWithUnreachable) {
  SwitchBench bench(four_routed_ports());
  const auto out = bench.send(0, make_udp(bench.pool, {mac(1), mac_a, host_a, own_b}, 5, 6));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(l4_header<wire::IcmpHeader>(*out[0]).code, 3);
  EXPECT_EQ(bench.drops(DropReason::local_unserved), 1u);
  constexpr std::uint8_t gre = 47;
  auto tunnelled = make_udp(bench.pool, {mac(1), mac_a, host_a, own_b}, 5, 6);
  ip_of(*tunnelled).protocol = gre;
  wire::finish_ipv4(ip_of(*tunnelled));
  const auto told = bench.send(0, std::move(tunnelled));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(l4_header<wire::IcmpHeader>(*told[0]).code, 2) << "protocol unreachable";
  auto part = make_udp(bench.pool, {mac(1), mac_a, host_a, own_b}, 5, 6);
  ip_of(*part).fragment = wire::Ipv4Header::more_fragments;
  wire::finish_ipv4(ip_of(*part));
  EXPECT_TRUE(bench.send(0, std::move(part)).empty()) << "what it is a part of is not known";
}

TEST(Router, SpreadsFlowsOverTheGroupAndKeepsEachTogether) {
  SwitchBench bench(four_routed_ports());
  std::array<unsigned, 4> hits{};
  for (std::uint16_t port = 1; port <= 400; ++port) {
    const Endpoints ends{mac(1), mac_a, host_a, Ip(8, 8, 8, 8)};
    const auto first = bench.send(0, make_udp(bench.pool, ends, port, 6)).at(0)->egress;
    EXPECT_EQ(bench.send(0, make_udp(bench.pool, ends, port, 6)).at(0)->egress, first);
    ++hits.at(first);
  }
  EXPECT_EQ(hits[0] + hits[1], 0u);
  EXPECT_NEAR(hits[2], 200, 60);
}

TEST(Router, NextHopBehindADownPortLeavesTheGroupAtOnce) {
  SwitchBench bench(four_routed_ports());
  const Endpoints ends{mac(1), mac_a, host_a, Ip(8, 8, 8, 8)};
  bench.device().set_port_up(2, false);
  for (std::uint16_t port = 1; port <= 50; ++port) {
    EXPECT_EQ(bench.send(0, make_udp(bench.pool, ends, port, 6)).at(0)->egress, 3);
  }
  bench.device().set_port_up(3, false);
  const auto error = bench.send(0, make_udp(bench.pool, ends, 1, 6));
  ASSERT_EQ(error.size(), 1u);
  EXPECT_EQ(l4_header<wire::IcmpHeader>(*error[0]).type, wire::IcmpHeader::destination_unreachable);
  EXPECT_EQ(bench.drops(DropReason::next_hops_down), 1u);
  bench.device().set_port_up(2, true);
  EXPECT_EQ(bench.send(0, make_udp(bench.pool, ends, 1, 6)).at(0)->egress, 2);
}

TEST(Router, NoRouteIsAnswered) {
  auto config = four_routed_ports();
  config.routes.clear();
  SwitchBench bench(config);
  const Endpoints ends{mac(1), mac_a, host_a, Ip(8, 8, 8, 8)};
  EXPECT_EQ(bench.send(0, make_udp(bench.pool, ends, 1, 6)).size(), 1u);
  EXPECT_EQ(bench.drops(DropReason::no_route), 1u);
}

TEST(Router, ReconfigurationChangesRoutesAndKeepsWhatWasLearned) {
  auto config = four_routed_ports();
  config.arp.erase(config.arp.begin() + 1);
  SwitchBench bench(config);
  const Endpoints hello{mac(2), wire::broadcast_mac, host_b, own_b};
  bench.send(1, make_arp(bench.pool, wire::ArpHeader::request, hello));
  config.routes = {{{Ip(8, 0, 0, 0), 8}, {Ip(10, 9, 2, 2)}}};
  bench.device().set_port_up(2, false);
  bench.device().reconfigure(config);
  const Endpoints ends{mac(1), mac_a, host_a, Ip(8, 8, 8, 8)};
  EXPECT_EQ(bench.send(0, make_udp(bench.pool, ends, 1, 6)).at(0)->egress, 3);
  EXPECT_EQ(bench.send(0, make_udp(bench.pool, a_to_b, 1, 6)).at(0)->egress, 1);
  EXPECT_EQ(bench.device().routes().size(), 5u);
}

// The result is that of the general rule, whatever the checksum was.
TEST(DecrementTtl, KeepsTheChecksum) {
  for (unsigned checksum = 0; checksum <= 0xffff; ++checksum) {
    wire::Ipv4Header ip;
    ip.ttl = static_cast<std::uint8_t>(1 + checksum % 255);
    ip.protocol = static_cast<std::uint8_t>(checksum >> 8);
    ip.checksum = static_cast<std::uint16_t>(checksum);
    const auto word = [&ip] { return static_cast<std::uint16_t>(ip.ttl << 8 | ip.protocol); };
    const auto before = word();
    switching::decrement_ttl(ip);
    ASSERT_EQ(ip.checksum.value(),
              wire::update_checksum(static_cast<std::uint16_t>(checksum), before, word()));
  }
}

TEST(SumsUp, IsTrueOfTheRightChecksumAlone) {
  std::mt19937 random(1);
  for (int times = 0; times < 20; ++times) {
    wire::Ipv4Header ip;
    ip.identification = static_cast<std::uint16_t>(random());
    ip.source = Ip(static_cast<std::uint32_t>(random()));
    ip.destination = times == 0 ? Ip(255, 255, 255, 255) : Ip(static_cast<std::uint32_t>(random()));
    wire::finish_ipv4(ip);
    const auto right = ip.checksum.value();
    for (unsigned checksum = 0; checksum <= 0xffff; ++checksum) {
      ip.checksum = static_cast<std::uint16_t>(checksum);
      ASSERT_EQ(switching::sums_up(ip), checksum == right || (checksum == 0xffff && right == 0));
    }
  }
}

}  // namespace
}  // namespace tributary::test
