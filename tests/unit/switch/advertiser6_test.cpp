// SPDX-License-Identifier: BSD-3-Clause
#include "switch/advertiser6.h"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "support/frames6.h"
#include "unit/switch/vlan_ports.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;
using wire::Icmp6Header;

const auto own6 = ip6(1, 1);
const auto own_mac = mac(0, 0xee);
const auto host_link = wire::link_local_of(mac(1));

switching::SwitchConfig advertised_port() {
  switching::SwitchConfig config;
  config.id = 1;
  config.table_seed = 1;
  config.ports = {bridged_port("told", 0), bridged_port("silent", 1)};
  config.ports[0].address6 = forwarding::InterfaceAddress6{own6, 64};
  config.ports[0].advertise6 = true;
  config.ports[0].mtu = 1400;
  config.ports[1].address6 = forwarding::InterfaceAddress6{ip6(2, 1), 64};
  return config;
}

// VLAN 20 has hosts that get router advertisements.
switching::SwitchConfig advertised_vlan() {
  auto config = four_ports();
  config.vlans = {{20, std::nullopt, forwarding::InterfaceAddress6{ip6(20, 1), 64}, true}};
  return config;
}

struct [[gnu::packed]] Advertisement {
  wire::RouterAdvertisement message;
  wire::LinkAddressOption link;
  wire::MtuOption mtu;
};
Advertisement& advertisement_of(Packet& packet) {
  EXPECT_TRUE(has_right_icmp6_checksum(packet));
  auto& all = l4_header6<Advertisement>(packet);
  EXPECT_EQ(all.message.icmp.type, Icmp6Header::router_advertisement);
  return all;
}
unsigned lifetime_of(Packet& packet) {
  return advertisement_of(packet).message.icmp.rest.value() & 0xffff;
}
const wire::PrefixOption* prefix_in(Packet& packet) {
  wire::Cursor cursor(payload6_of(packet).subspan(sizeof(Advertisement)));
  return cursor.take<wire::PrefixOption>();
}

// Returns the router advertisements that leave, without announcements of addresses.
std::vector<PacketPtr> told(SwitchBench& bench, Duration by) {
  auto out = bench.advance(by);
  std::erase_if(out, [](const PacketPtr& packet) {
    wire::Cursor cursor(packet->bytes());
    if (cursor.take<wire::EthernetHeader>()->type.value() == wire::ethertype::vlan) {
      cursor.take<wire::VlanTag>();
    }
    cursor.take<wire::Ipv6Header>();
    return cursor.take<Icmp6Header>()->type == Icmp6Header::neighbour_advertisement;
  });
  return out;
}

// Steps until a packet leaves, in steps that are much shorter than all timers.
std::vector<PacketPtr> await(SwitchBench& bench, Duration most, Duration* waited = nullptr) {
  const auto begin = bench.now;
  std::vector<PacketPtr> out;
  while (out.empty() && bench.now - begin < most) {
    out = told(bench, 10ms);
  }
  if (waited != nullptr) {
    *waited = bench.now - begin;
  }
  return out;
}

// Goes past the first advertisements, which follow each other quickly.
void settle(SwitchBench& bench, int quick = 4) {
  for (; quick > 0; --quick) {
    ASSERT_FALSE(await(bench, 20s).empty());
  }
  ASSERT_TRUE(await(bench, 20s).empty());
}

TEST(Advertiser6, TellsHostsWhatTheyNeed) {
  SwitchBench bench(advertised_port());
  auto out = bench.advance(0s);
  ASSERT_EQ(out.size(), 1u) << "of one of both ports";
  auto& packet = *out[0];
  EXPECT_EQ(packet.egress, 0);
  EXPECT_EQ(ethernet_of(packet).destination, wire::group_mac_of(wire::all_nodes));
  EXPECT_EQ(ethernet_of(packet).source, own_mac);
  EXPECT_EQ(Ip6(ip6_of(packet).source), wire::link_local_of(own_mac));
  EXPECT_EQ(Ip6(ip6_of(packet).destination), wire::all_nodes);
  EXPECT_EQ(ip6_of(packet).hop_limit, 255);
  const auto& [message, link, mtu] = advertisement_of(packet);
  EXPECT_EQ(message.icmp.code, 0);
  EXPECT_EQ(message.icmp.rest.value(), 64u << 24 | 1800u) << "hop limit, no flags, lifetime";
  EXPECT_EQ(message.reachable_ms.value(), 0u);
  EXPECT_EQ(message.retransmit_ms.value(), 0u);
  EXPECT_EQ(link.type, wire::LinkAddressOption::of_source);
  EXPECT_EQ(link.mac, own_mac);
  EXPECT_EQ(mtu.type, 5);
  EXPECT_EQ(mtu.length, 1);
  EXPECT_EQ(mtu.mtu.value(), 1400u);
  const auto* prefix = prefix_in(packet);
  ASSERT_NE(prefix, nullptr);
  EXPECT_EQ(prefix->type, 3);
  EXPECT_EQ(prefix->length, 4);
  EXPECT_EQ(prefix->prefix_length, 64);
  EXPECT_EQ(prefix->flags, 0xc0) << "on link, and autonomous";
  EXPECT_EQ(prefix->valid_s.value(), 2592000u);
  EXPECT_EQ(prefix->preferred_s.value(), 604800u);
  EXPECT_EQ(Ip6(prefix->prefix), ip6(1, 0));
  EXPECT_EQ(payload6_of(packet).size(), sizeof(Advertisement) + sizeof(wire::PrefixOption));
  const auto rows = bench.device().advertisers();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].interface, 0);
  EXPECT_EQ(rows[0].advertisements, 1u);
}

TEST(Advertiser6, TellsThemAgainSoonAndThenNowAndThen) {
  SwitchBench bench(advertised_port());
  bench.advance(0s);
  for (int i = 0; i < 3; ++i) {
    Duration waited{};
    ASSERT_EQ(await(bench, 20s, &waited).size(), 1u);
    EXPECT_LE(waited, 16s + 10ms);
    EXPECT_GE(waited, 3s);
  }
  std::vector<Duration> pauses(8);
  for (auto& waited : pauses) {
    ASSERT_EQ(await(bench, 700s, &waited).size(), 1u);
    EXPECT_GE(waited, 200s);
    EXPECT_LE(waited, 600s + 10ms);
  }
  EXPECT_NE(pauses[0], pauses[1]) << "routers that began together do not stay together";
}

TEST(Advertiser6, AnswersSolicitationsSoonAndAllAtOnce) {
  SwitchBench bench(advertised_port());
  settle(bench);
  for (const auto& from : {host_link, Ip6(), ip6(1, 9)}) {
    EXPECT_TRUE(bench.send(0, make_router_solicitation(bench.pool, mac(1), from)).empty());
  }
  Duration waited{};
  auto out = await(bench, 1s, &waited);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_LE(waited, 510ms);
  EXPECT_EQ(Ip6(ip6_of(*out[0]).destination), wire::all_nodes);
  EXPECT_EQ(lifetime_of(*out[0]), 1800u);
  EXPECT_EQ(bench.device().advertisers().at(0).solicitations, 3u);
  EXPECT_EQ(bench.ledger().absorbed, 3u);
  EXPECT_TRUE(await(bench, 100s).empty());
}

TEST(Advertiser6, TellsAllNodesNoMoreOftenThanEveryThreeSeconds) {
  SwitchBench bench(advertised_port());
  settle(bench);
  std::vector<Time> sent;
  for (int i = 0; i < 3000; ++i) {
    bench.send(0, make_router_solicitation(bench.pool, mac(1), host_link));
    if (!bench.advance(10ms).empty()) {
      sent.push_back(bench.now);
    }
  }
  ASSERT_GE(sent.size(), 8u);
  for (std::size_t i = 1; i < sent.size(); ++i) {
    EXPECT_GE(sent[i] - sent[i - 1], 3s);
    EXPECT_LE(sent[i] - sent[i - 1], 3520ms);
  }
}

TEST(Advertiser6, SaysNothingWhereItIsOff) {
  auto config = advertised_port();
  config.ports[0].advertise6 = false;
  SwitchBench bench(config);
  EXPECT_TRUE(bench.send(0, make_router_solicitation(bench.pool, mac(1), host_link)).empty());
  EXPECT_EQ(bench.drops(DropReason::ip_not_for_us), 1u);
  EXPECT_TRUE(await(bench, 20s).empty());
  EXPECT_TRUE(bench.device().advertisers().empty());
}

TEST(Advertiser6, DropsMalformedSolicitations) {
  SwitchBench bench(advertised_port());
  settle(bench);
  const auto spoilt = [&](auto spoil) {
    auto packet = make_router_solicitation(bench.pool, mac(1), host_link);
    spoil(*packet);
    bench.send(0, with_icmp6_checksum(std::move(packet)));
  };
  const auto option_of = [](Packet& packet) -> wire::LinkAddressOption& {
    return *reinterpret_cast<wire::LinkAddressOption*>(&l4_header6<Icmp6Header>(packet) + 1);
  };
  spoilt([](Packet& packet) { ip6_of(packet).hop_limit = 254; });
  spoilt([](Packet& packet) { l4_header6<Icmp6Header>(packet).code = 1; });
  spoilt([](Packet& packet) { ip6_of(packet).source = {}; });
  spoilt([&](Packet& packet) { option_of(packet).length = 0; });
  spoilt([&](Packet& packet) { option_of(packet).length = 2; });
  auto damaged = make_router_solicitation(bench.pool, mac(1), host_link);
  l4_header6<Icmp6Header>(*damaged).rest = 1u;
  bench.send(0, std::move(damaged));
  EXPECT_EQ(bench.drops(DropReason::nd_malformed), 6u);
  EXPECT_EQ(bench.device().advertisers().at(0).solicitations, 0u);
  EXPECT_TRUE(await(bench, 10s).empty());
}

TEST(Advertiser6, WaitsForTheLink) {
  SwitchBench bench(advertised_port());
  bench.device().set_port_up(0, false);
  EXPECT_TRUE(await(bench, 700s).empty());
  EXPECT_EQ(bench.losses(DropReason::port_down), 0u);
  bench.device().set_port_up(0, true);
  EXPECT_EQ(told(bench, 0s).size(), 1u);
  settle(bench, 3);
}

TEST(Advertiser6, TellsTheHostsOfAVlan) {
  SwitchBench bench(advertised_vlan());
  EXPECT_EQ(sent(bench.advance(0s)), (Exits{{access_20, no_tag}, {trunk, 20}, {native, 20}}));
  EXPECT_EQ(bench.device().vlans().at(0).counters.tx_packets, 1u);
  settle(bench, 3);
  auto asked =
      bench.send(trunk, tagged(make_router_solicitation(bench.pool, mac(1), host_link), 20));
  EXPECT_EQ(sent(asked), (Exits{{access_20, no_tag}, {native, 20}})) << "other routers may answer";
  bench.send(trunk, tagged(make_router_solicitation(bench.pool, mac(1), host_link), 10));
  EXPECT_EQ(sent(await(bench, 1s)), (Exits{{access_20, no_tag}, {trunk, 20}, {native, 20}}));
  const auto rows = bench.device().advertisers();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].interface, forwarding::vlan_interface(20));
  EXPECT_EQ(rows[0].solicitations, 1u);
}

TEST(Advertiser6, TellsTheVlansOfAPortWhoseLinkComesUp) {
  auto config = advertised_vlan();
  config.bridge_address.reset();
  SwitchBench bench(config);
  settle(bench);
  bench.device().set_port_up(access_10, false);
  bench.device().set_port_up(access_10, true);
  EXPECT_TRUE(await(bench, 20s).empty()) << "VLAN 10 is not told of a router";
  bench.device().set_port_up(access_20, false);
  bench.device().set_port_up(access_20, true);
  EXPECT_EQ(sent(told(bench, 0s)), (Exits{{access_20, no_tag}, {trunk, 20}, {native, 20}}));
  settle(bench, 3);
}

TEST(Advertiser6, IsNotHurriedByALinkThatComesAndGoes) {
  SwitchBench bench(advertised_vlan());
  settle(bench);
  std::size_t frames = 0;
  for (int i = 0; i < 100; ++i) {
    bench.device().set_port_up(access_20, false);
    bench.device().set_port_up(access_20, true);
    frames += told(bench, 100ms).size();
  }
  EXPECT_EQ(frames, 3u * 4) << "three frames every three seconds";
}

TEST(Advertiser6, TellsTheHostsOfABridge) {
  switching::SwitchConfig config;
  config.ports = {bridged_port("a", 0), bridged_port("b", 1)};
  config.bridge_address6 = forwarding::InterfaceAddress6{own6, 64};
  config.bridge_advertise6 = true;
  SwitchBench bench(config);
  EXPECT_EQ(sent(bench.advance(0s)), (Exits{{0, no_tag}, {1, no_tag}}));
  settle(bench, 3);
  bench.device().set_port_up(1, false);
  bench.device().set_port_up(1, true);
  EXPECT_EQ(sent(told(bench, 0s)), (Exits{{0, no_tag}, {1, no_tag}}));
}

TEST(Advertiser6, OneCoreTellsThemAndHearsOfItFromTheOthers) {
  SwitchBench first(advertised_port(), {0, 2});
  SwitchBench second(advertised_port(), {1, 2});
  settle(first);
  EXPECT_TRUE(await(second, 20s).empty());
  EXPECT_TRUE(second.device().advertisers().empty());
  second.send(0, make_router_solicitation(second.pool, mac(1), host_link));
  ASSERT_EQ(second.table_updates.size(), 1u);
  EXPECT_TRUE(await(second, 1s).empty());
  first.device().learn(*second.table_updates[0], first.now);
  EXPECT_EQ(await(first, 1s).size(), 1u);
  EXPECT_EQ(first.device().advertisers().at(0).solicitations, 1u);
}

TEST(Advertiser6, HearsOnceOfANewStationOfABridge) {
  auto config = advertised_port();
  config.ports = {bridged_port("a", 0), bridged_port("b", 1)};
  config.bridge_address6 = forwarding::InterfaceAddress6{own6, 64};
  config.bridge_advertise6 = true;
  SwitchBench first(config, {0, 2});
  SwitchBench second(config, {1, 2});
  settle(first);
  second.send(0, make_router_solicitation(second.pool, mac(1), host_link));
  for (const auto& update : second.table_updates) {
    first.device().learn(*update, first.now);
  }
  EXPECT_EQ(first.device().advertisers().at(0).solicitations, 1u);
}

TEST(Advertiser6, EndsWithTheSwitch) {
  SwitchBench bench(advertised_port());
  settle(bench);
  bench.device().withdraw();
  EXPECT_LE(bench.device().deadline(), bench.now);
  auto out = bench.advance(0s);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(lifetime_of(*out[0]), 0u);
  EXPECT_EQ(prefix_in(*out[0]), nullptr) << "hosts keep their addresses over a restart";
  EXPECT_TRUE(await(bench, 700s).empty());
}

TEST(Advertiser6, IsTurnedOffAndOnByAReload) {
  auto config = advertised_port();
  SwitchBench bench(config);
  settle(bench);
  bench.device().reconfigure(config);
  EXPECT_TRUE(await(bench, 20s).empty()) << "nothing has changed";
  config.ports[0].advertise6 = false;
  bench.device().reconfigure(config);
  auto last = bench.advance(0s);
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(lifetime_of(*last[0]), 0u);
  EXPECT_EQ(prefix_in(*last[0]), nullptr);
  EXPECT_TRUE(await(bench, 700s).empty());
  config.ports[0].advertise6 = true;
  bench.device().reconfigure(config);
  EXPECT_EQ(lifetime_of(*bench.advance(0s).at(0)), 1800u);
  settle(bench, 3);
}

TEST(Advertiser6, TakesThePrefixOfAVlanBackThatIsRoutedNoMore) {
  auto config = advertised_vlan();
  SwitchBench bench(config);
  settle(bench);
  config.vlans.clear();
  bench.device().reconfigure(config);
  auto last = bench.advance(0s);
  ASSERT_EQ(last.size(), 3u);
  EXPECT_EQ(last[0]->egress, access_20);
  EXPECT_EQ(lifetime_of(*last[0]), 0u);
  const auto* prefix = prefix_in(*last[0]);
  ASSERT_NE(prefix, nullptr);
  EXPECT_EQ(Ip6(prefix->prefix), ip6(20, 0));
  EXPECT_EQ(prefix->valid_s.value(), 7200u);
  EXPECT_EQ(prefix->preferred_s.value(), 0u);
  EXPECT_EQ(sent(last), (Exits{{access_20, no_tag}, {trunk, 20}, {native, 20}}));
  EXPECT_TRUE(await(bench, 700s).empty());
}

TEST(Advertiser6, TakesOnePrefixBackAndThenTellsTheOther) {
  auto config = advertised_vlan();
  SwitchBench bench(config);
  settle(bench);
  config.vlans[0].address6 = forwarding::InterfaceAddress6{ip6(21, 1), 64};
  bench.device().reconfigure(config);
  auto last = told(bench, 0s);
  ASSERT_EQ(last.size(), 3u);
  EXPECT_EQ(lifetime_of(*last[0]), 1800u) << "the router stays";
  EXPECT_EQ(Ip6(prefix_in(*last[0])->prefix), ip6(20, 0));
  EXPECT_EQ(prefix_in(*last[0])->preferred_s.value(), 0u);
  Duration waited{};
  auto next = await(bench, 10s, &waited);
  ASSERT_EQ(next.size(), 3u);
  EXPECT_GE(waited, 3s);
  EXPECT_EQ(Ip6(prefix_in(*next[0])->prefix), ip6(21, 0));
  EXPECT_EQ(prefix_in(*next[0])->preferred_s.value(), 604800u);
  EXPECT_EQ(bench.device().advertisers().at(0).advertisements, 5u);
}

TEST(Advertiser6, FollowsTheBridgeIntoAnotherVlan) {
  auto config = four_ports();
  config.bridge_address.reset();
  config.bridge_address6 = forwarding::InterfaceAddress6{ip6(10, 1), 64};
  config.bridge_advertise6 = true;
  SwitchBench bench(config);
  settle(bench);
  config.bridge_vlan = 20;
  bench.device().reconfigure(config);
  auto out = told(bench, 0s);
  ASSERT_EQ(out.size(), 6u);
  EXPECT_EQ(lifetime_of(*out[0]), 0u);
  EXPECT_EQ(prefix_in(*out[0])->preferred_s.value(), 0u);
  EXPECT_EQ(lifetime_of(*out[5]), 1800u);
  EXPECT_EQ(sent(out), (Exits{{access_10, no_tag},
                              {trunk, 10},
                              {trunk, 20},
                              {native, no_tag},
                              {native, 20},
                              {access_20, no_tag}}));
  settle(bench, 3);
}

TEST(Advertiser6, TellsAnotherMtuAtOnce) {
  auto config = advertised_vlan();
  config.ports[access_10].mtu = 1300;
  SwitchBench bench(config);
  settle(bench);
  config.ports[access_10].vlan.tagged.ranges = {{20, 20}};
  bench.device().reconfigure(config);
  const auto out = told(bench, 0s);
  ASSERT_EQ(out.size(), 4u);
  take_tag(*out[0]);
  EXPECT_EQ(advertisement_of(*out[0]).mtu.mtu.value(), 1300u);
}

}  // namespace
}  // namespace tributary::test
