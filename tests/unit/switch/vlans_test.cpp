// SPDX-License-Identifier: BSD-3-Clause
#include "switch/vlans.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "forwarding/codepoint.h"
#include "protocols/canary/engine/config.h"
#include "support/canary_packets.h"
#include "switch/owners.h"
#include "unit/switch/vlan_ports.h"

namespace tributary::test {
namespace {

PacketPtr between(SwitchBench& bench, std::uint8_t from, std::uint8_t to) {
  return make_udp(bench.pool, {mac(from), mac(to), Ip(10, 0, 0, from), Ip(10, 0, 0, to)}, 5, 6);
}

// The same ports without VLANs.
switching::SwitchConfig without_vlans(switching::SwitchConfig config) {
  for (auto& port : config.ports) {
    port.vlan = {};
  }
  config.bridge_vlan = 0;
  return config;
}

TEST(Vlans, TagsPassABridgeWithoutVlansAsTheyAre) {
  auto config = without_vlans(four_ports());
  for (const bool express : {true, false}) {
    config.express_lane = express;
    SwitchBench bench(config);
    EXPECT_EQ(sent(bench.send(1, tagged(between(bench, 1, 2), priority(5) | 77))),
              (Exits{{0, priority(5) | 77}, {2, priority(5) | 77}, {3, priority(5) | 77}}));
    EXPECT_EQ(sent(bench.send(3, tagged(between(bench, 2, 1), 78))), (Exits{{1, 78}}))
        << "stations are known by their addresses alone";
    EXPECT_EQ(sent(bench.send(1, tagged(between(bench, 1, 2), 0))), (Exits{{3, 0}}));
    EXPECT_EQ(sent(bench.send(1, tagged(tagged(between(bench, 1, 2), 5), 6))), (Exits{{3, 6}}));
  }
}

TEST(Vlans, ABridgeWithoutVlansLooksBehindPriorityTagsThatAreForIt) {
  for (const bool express : {true, false}) {
    auto config = without_vlans(four_ports());
    config.express_lane = express;
    SwitchBench bench(config);
    const Endpoints ask{mac(1), wire::broadcast_mac, Ip(10, 0, 0, 1), own_ip};
    const auto request = [&] { return make_arp(bench.pool, wire::ArpHeader::request, ask); };
    auto answers = bench.send(1, tagged(request(), priority(3)));
    EXPECT_EQ(sent(answers), (Exits{{1, no_tag}}));
    EXPECT_EQ(arp_of(*answers.at(0)).sender_mac, mac(0, 0xee));
    const Endpoints ping{mac(1), mac(0, 0xee), Ip(10, 0, 0, 1), own_ip};
    EXPECT_EQ(sent(bench.send(1, tagged(make_echo(bench.pool, ping), priority(3)))),
              (Exits{{1, no_tag}}));
    EXPECT_TRUE(bench.send(1, tagged(make_echo(bench.pool, ping), priority(3) | 7)).empty())
        << "it is in another VLAN";
    EXPECT_EQ(bench.drops(DropReason::unknown_ethertype), 1u);
  }
}

TEST(Vlans, ABridgeWithoutVlansPassesPriorityTagsOn) {
  SwitchBench bench(without_vlans(four_ports()));
  const Endpoints ask{mac(1), wire::broadcast_mac, Ip(10, 0, 0, 1), Ip(10, 0, 0, 2)};
  auto question = make_arp(bench.pool, wire::ArpHeader::request, ask);
  const auto before = tagged(bench.pool.clone(*question), priority(5));
  auto flooded = bench.send(1, bench.pool.clone(*before));
  ASSERT_EQ(flooded.size(), 3u);
  for (const auto& packet : flooded) {
    EXPECT_TRUE(std::ranges::equal(packet->bytes().first(before->length), before->bytes()));
  }
  EXPECT_EQ(sent(bench.send(1, tagged(tagged(between(bench, 1, 9), 20), 0))),
            (Exits{{0, 0}, {2, 0}, {3, 0}}))
      << "a second tag stays behind the first";
}

TEST(Vlans, FramesAreFloodedInTheirVlanOnly) {
  SwitchBench bench(four_ports());
  EXPECT_EQ(sent(bench.send(access_10, between(bench, 1, 9))),
            (Exits{{trunk, 10}, {native, no_tag}}));
  EXPECT_EQ(sent(bench.send(access_20, between(bench, 2, 9))), (Exits{{trunk, 20}, {native, 20}}));
  EXPECT_EQ(sent(bench.send(trunk, tagged(between(bench, 3, 9), 20))),
            (Exits{{access_20, no_tag}, {native, 20}}));
  EXPECT_EQ(sent(bench.send(native, between(bench, 4, 9))),
            (Exits{{access_10, no_tag}, {trunk, 10}}));
  EXPECT_TRUE(bench.send(native, tagged(between(bench, 4, 9), 21)).empty());
  EXPECT_EQ(bench.drops(DropReason::bridge_no_port), 1u) << "nobody else is in VLAN 21";
}

TEST(Vlans, FramesAreUnchangedButForTheirTags) {
  SwitchBench bench(four_ports());
  const auto before = between(bench, 1, 9);
  for (const auto from : {access_10, native}) {
    auto frame = bench.pool.clone(*before);
    auto packets = bench.send(from, std::move(frame));
    sent(packets);
    for (const auto& packet : packets) {
      EXPECT_TRUE(std::ranges::equal(packet->bytes(), before->bytes()));
    }
  }
  auto packets = bench.send(trunk, tagged(bench.pool.clone(*before), 10));
  sent(packets);
  ASSERT_EQ(packets.size(), 2u);
  for (const auto& packet : packets) {
    EXPECT_TRUE(std::ranges::equal(packet->bytes(), before->bytes()));
  }
}

TEST(Vlans, APriorityTagIsOfThePortsVlanAndKeepsItsPriority) {
  SwitchBench bench(four_ports());
  EXPECT_EQ(sent(bench.send(access_20, tagged(between(bench, 1, 9), priority(5)))),
            (Exits{{trunk, priority(5) | 20}, {native, priority(5) | 20}}));
  const unsigned drop_eligible = 0x1000;
  EXPECT_EQ(sent(bench.send(trunk, tagged(between(bench, 2, 9), priority(3) | drop_eligible | 20))),
            (Exits{{access_20, no_tag}, {native, priority(3) | drop_eligible | 20}}));
  EXPECT_TRUE(bench.send(trunk, tagged(between(bench, 2, 9), priority(3))).empty());
  EXPECT_EQ(bench.drops(DropReason::vlan_untagged), 1u) << "the trunk has no VLAN for it";
}

TEST(Vlans, ABridgeWithoutVlansHearsArpBehindPriorityTags) {
  for (const bool express : {true, false}) {
    auto config = without_vlans(four_ports());
    config.express_lane = express;
    SwitchBench bench(config);
    const auto arp = [&](std::uint8_t from, std::uint8_t to, Ip target) {
      return make_arp(bench.pool, wire::ArpHeader::request,
                      {mac(from), mac(to), Ip(10, 0, 0, 1), target});
    };
    bench.send(1, arp(1, 0xff, own_ip));
    bench.send(2, between(bench, 2, 9));
    bench.send(1, between(bench, 3, 9));
    EXPECT_EQ(sent(bench.send(1, tagged(arp(3, 2, Ip(10, 0, 0, 2)), priority(5)))),
              (Exits{{2, priority(5)}}));
    const auto known = bench.device().arp(bench.now);
    ASSERT_EQ(known.size(), 1u);
    EXPECT_EQ(known[0].mac, mac(3)) << "the host has another card now";
  }
}

// A neighbour that goes by tags stops the class by the priority that it sees.
TEST(Vlans, TagsHaveThePriorityOfALosslessClass) {
  auto config = four_ports();
  config.classes = {{.name = "storage", .codepoints = {{26}, {40}}, .pfc_priority = 4},
                    {.name = "rest"}};
  SwitchBench bench(config);
  const auto marked = [&](std::uint8_t codepoint) {
    auto frame = between(bench, 1, 9);
    ip_of(*frame).tos = static_cast<std::uint8_t>(codepoint << 2);
    return frame;
  };
  for (const auto codepoint : {std::uint8_t{26}, std::uint8_t{40}}) {
    EXPECT_EQ(sent(bench.send(access_20, marked(codepoint))),
              (Exits{{trunk, priority(4) | 20}, {native, priority(4) | 20}}));
  }
  const unsigned drop_eligible = 0x1000;
  EXPECT_EQ(sent(bench.send(trunk, tagged(marked(26), priority(3) | drop_eligible | 20))),
            (Exits{{access_20, no_tag}, {native, priority(4) | drop_eligible | 20}}));
  EXPECT_EQ(sent(bench.send(trunk, tagged(marked(8), priority(3) | 20))),
            (Exits{{access_20, no_tag}, {native, priority(3) | 20}}))
      << "of a class that is not lossless";
}

TEST(Vlans, TagsThatWereTrustedSayWhetherAClassIsLossless) {
  auto config = four_ports();
  config.classes = {{.name = "storage",
                     .codepoints = {{26}},
                     .pcp = forwarding::Priorities{0x10},
                     .pfc_priority = 4},
                    {.name = "rest"}};
  SwitchBench bench(config);
  const auto trusted = [&](unsigned control) {
    auto frame = between(bench, 1, 9);
    ip_of(*frame).tos = 26 << 2;
    frame = tagged(std::move(frame), control);
    forwarding::trust_tag(*frame);
    return frame;
  };
  for (const auto number : {4u, 5u}) {
    EXPECT_EQ(sent(bench.send(access_20, trusted(priority(number)))),
              (Exits{{trunk, priority(number) | 20}, {native, priority(number) | 20}}))
        << "its codepoint is that of the lossless class";
  }
  EXPECT_EQ(sent(bench.send(trunk, tagged(trusted(priority(4)), 20))),
            (Exits{{native, priority(4) | 20}}))
      << "the class is known behind two tags";
}

TEST(Vlans, PortsTakeNoFramesOfVlansThatTheyDoNotCarry) {
  SwitchBench bench(four_ports());
  EXPECT_TRUE(bench.send(access_10, tagged(between(bench, 1, 9), 20)).empty());
  EXPECT_TRUE(bench.send(access_10, tagged(between(bench, 1, 9), 10)).empty())
      << "its own, but it takes no tags";
  EXPECT_TRUE(bench.send(trunk, tagged(between(bench, 1, 9), 30)).empty());
  EXPECT_TRUE(bench.send(trunk, tagged(between(bench, 1, 9), 4095)).empty());
  EXPECT_EQ(bench.drops(DropReason::vlan_not_allowed), 4u);
  EXPECT_TRUE(bench.send(trunk, between(bench, 1, 9)).empty());
  EXPECT_EQ(bench.drops(DropReason::vlan_untagged), 1u);
  EXPECT_EQ(bench.device().fdb(bench.now).size(), 4u) << "the bridge's own: none is learned from";
  EXPECT_EQ(sent(bench.send(native, tagged(between(bench, 1, 9), 10))),
            (Exits{{access_10, no_tag}, {trunk, 10}}))
      << "where tags are taken, that of the untagged VLAN is, too";
}

TEST(Vlans, DropsTagsThatAreCut) {
  SwitchBench bench(four_ports());
  for (const std::uint32_t bytes : {13u, 14u, 15u, 17u}) {
    auto frame = tagged(between(bench, 1, 9), 10);
    frame->length = bytes;
    EXPECT_TRUE(bench.send(trunk, std::move(frame)).empty());
  }
  EXPECT_EQ(bench.drops(DropReason::truncated), 4u);
  auto shortest = tagged(between(bench, 1, 9), 10);
  shortest->length = 18;
  auto packets = bench.send(trunk, std::move(shortest));
  ASSERT_EQ(packets.size(), 2u);
  EXPECT_EQ(packets[0]->length, wire::ethernet_min_frame_bytes) << "padded, without its tag";
}

// Otherwise a station of the untagged VLAN could reach any other VLAN, by a second tag below that
// of its port.
TEST(Vlans, NoTagLeavesInThePlaceOfOneThatIsTakenOff) {
  SwitchBench bench(four_ports());
  EXPECT_EQ(sent(bench.send(access_10, tagged(tagged(between(bench, 1, 9), 20), 0))),
            (Exits{{trunk, 10}}));
  EXPECT_EQ(bench.drops(DropReason::vlan_nested), 1u);
  EXPECT_EQ(sent(bench.send(access_20, tagged(tagged(between(bench, 1, 9), 10), 0))),
            (Exits{{trunk, 20}, {native, 20}}));
}

TEST(Vlans, AnAddressIsAnotherStationInAnotherVlan) {
  SwitchBench bench(four_ports());
  bench.send(access_10, between(bench, 1, 9));
  bench.send(access_20, between(bench, 1, 9));
  EXPECT_EQ(sent(bench.send(trunk, tagged(between(bench, 2, 1), 10))),
            (Exits{{access_10, no_tag}}));
  EXPECT_EQ(sent(bench.send(trunk, tagged(between(bench, 3, 1), 20))),
            (Exits{{access_20, no_tag}}));
  EXPECT_EQ(sent(bench.send(native, tagged(between(bench, 4, 1), 20))),
            (Exits{{access_20, no_tag}}));
  std::vector<std::pair<PortIndex, std::uint16_t>> known;
  for (const auto& row : bench.device().fdb(bench.now)) {
    if (row.mac == mac(1)) {
      known.emplace_back(row.port, row.vid);
    }
  }
  std::sort(known.begin(), known.end());
  EXPECT_EQ(known,
            (std::vector<std::pair<PortIndex, std::uint16_t>>{{access_10, 10}, {access_20, 20}}));
}

TEST(Vlans, StaticEntriesHoldInTheirVlan) {
  auto config = four_ports();
  config.fdb = {{mac(1), "native"}, {mac(1), "trunk", 20}};
  SwitchBench bench(config);
  EXPECT_EQ(sent(bench.send(access_10, between(bench, 2, 1))), (Exits{{native, no_tag}}));
  EXPECT_EQ(sent(bench.send(access_20, between(bench, 2, 1))), (Exits{{trunk, 20}}));
  bench.send(access_10, between(bench, 1, 9));
  EXPECT_EQ(sent(bench.send(trunk, tagged(between(bench, 2, 1), 10))), (Exits{{native, no_tag}}));
}

TEST(Vlans, APortMayHaveSoManyStationsOfAllItsVlans) {
  auto config = four_ports();
  config.ports[trunk].learning.addresses_max = 2;
  SwitchBench bench(config);
  EXPECT_EQ(bench.send(trunk, tagged(between(bench, 1, 9), 10)).size(), 2u);
  EXPECT_EQ(bench.send(trunk, tagged(between(bench, 1, 9), 20)).size(), 2u);
  EXPECT_TRUE(bench.send(trunk, tagged(between(bench, 2, 9), 10)).empty());
  EXPECT_EQ(bench.drops(DropReason::bridge_port_security), 1u);
}

TEST(Vlans, TheSwitchIsInOneVlan) {
  SwitchBench bench(four_ports());
  const auto own_mac = mac(0, 0xee);
  const Endpoints ask{mac(1), wire::broadcast_mac, Ip(10, 0, 0, 1), own_ip};
  EXPECT_EQ(sent(bench.send(access_20, make_arp(bench.pool, wire::ArpHeader::request, ask))),
            (Exits{{trunk, 20}, {native, 20}}))
      << "nobody is asked there but stations";
  auto answers = bench.send(trunk, tagged(make_arp(bench.pool, wire::ArpHeader::request, ask), 10));
  EXPECT_EQ(sent(answers), (Exits{{trunk, 10}}));
  EXPECT_EQ(arp_of(*answers[0]).sender_mac, own_mac);

  const Endpoints ping{mac(1), own_mac, Ip(10, 0, 0, 1), own_ip};
  EXPECT_EQ(sent(bench.send(trunk, tagged(make_echo(bench.pool, ping), priority(6) | 10))),
            (Exits{{trunk, priority(6) | 10}}))
      << "with the priority that it was asked with";
  EXPECT_TRUE(bench.send(access_20, make_echo(bench.pool, ping)).empty());
  EXPECT_EQ(bench.drops(DropReason::local_unserved), 1u);
  bench.send(access_20, make_udp(bench.pool, {own_mac, mac(9), own_ip, own_ip}, 5, 6));
  EXPECT_EQ(sent(bench.send(trunk, tagged(make_echo(bench.pool, ping), 10))), (Exits{{trunk, 10}}))
      << "its address cannot be taken, in no VLAN";
}

TEST(Vlans, WithoutOneTheSwitchIsNowhere) {
  auto config = four_ports();
  config.bridge_vlan = 0;
  config.bridge_address.reset();
  SwitchBench bench(config);
  const Endpoints ping{mac(1), mac(0, 0xee), Ip(10, 0, 0, 1), own_ip};
  EXPECT_TRUE(bench.send(access_10, make_echo(bench.pool, ping)).empty());
  EXPECT_EQ(bench.drops(DropReason::local_unserved), 1u);
}

TEST(Vlans, RoutesBetweenItsVlanAndARoutedPort) {
  auto config = four_ports();
  config.ports.push_back(routed_port("up", 4, Ip(10, 9, 0, 1)));
  config.arp = {{Ip(10, 9, 0, 2), mac(9)}, {Ip(10, 0, 0, 1), mac(1)}};
  SwitchBench bench(config);
  bench.send(trunk, tagged(between(bench, 1, 8), 10));
  const Endpoints up{mac(1), mac(0, 0xee), Ip(10, 0, 0, 1), Ip(10, 9, 0, 2)};
  auto routed = bench.send(trunk, tagged(make_udp(bench.pool, up, 5, 6), priority(2) | 10));
  ASSERT_EQ(routed.size(), 1u);
  EXPECT_EQ(routed[0]->egress, 4);
  EXPECT_EQ(take_tag(*routed[0]), no_tag);
  EXPECT_EQ(ethernet_of(*routed[0]).destination, mac(9));
  const Endpoints down{mac(9), mac(4, 0xee), Ip(10, 9, 0, 2), Ip(10, 0, 0, 1)};
  auto frame = make_udp(bench.pool, down, 5, 6);
  ip_of(*frame).tos = 5 << 5;
  wire::finish_ipv4(ip_of(*frame));
  EXPECT_EQ(sent(bench.send(4, std::move(frame))), (Exits{{trunk, priority(5) | 10}}))
      << "its class selector is its priority";
}

TEST(Vlans, NothingIsRoutedOutOfAnotherVlan) {
  auto config = four_ports();
  config.ports.push_back(routed_port("up", 4, Ip(10, 9, 0, 1)));
  config.arp = {{Ip(10, 9, 0, 2), mac(9)}};
  for (const bool express : {true, false}) {
    config.express_lane = express;
    SwitchBench bench(config);
    const Endpoints up{mac(1), mac(0, 0xee), Ip(10, 0, 0, 1), Ip(10, 9, 0, 2)};
    EXPECT_TRUE(bench.send(access_20, make_udp(bench.pool, up, 5, 6)).empty());
    EXPECT_TRUE(bench.send(trunk, tagged(make_udp(bench.pool, up, 5, 6), 20)).empty());
    EXPECT_EQ(bench.drops(DropReason::local_unserved), 2u);
  }
}

TEST(Vlans, FramesForThePortItselfAreInNone) {
  SwitchBench bench(four_ports());
  const wire::MacAddress pause{{0x01, 0x80, 0xc2, 0, 0, 1}};
  bench.send(trunk, make_frame(bench.pool, pause, mac(1), wire::ethertype::mac_control, 46));
  EXPECT_EQ(bench.ledger().absorbed, 1u);
  const wire::MacAddress lldp{{0x01, 0x80, 0xc2, 0, 0, 0x0e}};
  bench.send(trunk, make_frame(bench.pool, lldp, mac(1), 0x88cc, 46));
  EXPECT_EQ(bench.drops(DropReason::bridge_reserved), 1u);
}

TEST(Vlans, AReloadMovesAPort) {
  auto config = four_ports();
  SwitchBench bench(config);
  bench.send(access_10, between(bench, 1, 9));
  bench.send(native, between(bench, 2, 9));
  config.ports[access_10].vlan.untagged = 20;
  bench.device().reconfigure(config);
  EXPECT_EQ(sent(bench.send(trunk, tagged(between(bench, 3, 1), 10))), (Exits{{native, no_tag}}))
      << "it was there";
  EXPECT_EQ(sent(bench.send(trunk, tagged(between(bench, 3, 2), 10))), (Exits{{native, no_tag}}));
  EXPECT_EQ(sent(bench.send(access_10, between(bench, 1, 9))),
            (Exits{{access_20, no_tag}, {trunk, 20}, {native, 20}}));

  for (auto& port : config.ports) {
    port.vlan = {};
  }
  config.bridge_vlan = 0;
  bench.device().reconfigure(config);
  EXPECT_EQ(sent(bench.send(access_10, tagged(between(bench, 3, 2), 5))),
            (Exits{{access_20, 5}, {trunk, 5}, {native, 5}}))
      << "without VLANs, nobody was heard";
  bench.device().reconfigure(four_ports());
  EXPECT_EQ(sent(bench.send(access_10, between(bench, 3, 2))),
            (Exits{{trunk, 10}, {native, no_tag}}));
}

TEST(Vlans, CoresTeachEachOtherStationsWithTheirVlans) {
  SwitchBench first(four_ports(), {0, 2});
  SwitchBench second(four_ports(), {1, 2});
  first.send(trunk, tagged(between(first, 1, 9), 20));
  const Endpoints reply{mac(2), mac(9), Ip(10, 0, 0, 2), own_ip};
  first.send(access_20, make_arp(first.pool, wire::ArpHeader::reply, reply));
  ASSERT_EQ(first.table_updates.size(), 2u);
  for (const auto& update : first.table_updates) {
    second.device().learn(*update, second.now);
  }
  EXPECT_EQ(sent(second.send(access_20, between(second, 3, 1))), (Exits{{trunk, 20}}));
  EXPECT_EQ(sent(second.send(access_10, between(second, 3, 1))),
            (Exits{{trunk, 10}, {native, no_tag}}));
  EXPECT_TRUE(second.device().arp(second.now).empty()) << "no neighbour of the switch's own VLAN";
}

// The tests below are about engines.

using Elements = std::vector<std::int32_t>;

// Hosts 0 to 2 are behind the ports of their numbers; host 2 leads.
switching::SwitchConfig aggregating() {
  auto config = four_ports();
  config.address = Ip(10, 0, 0, 254);
  config.bridge_address = forwarding::InterfaceAddress{config.address, 16};
  config.protocols.emplace<canary::CanaryConfig>({});
  config.ports[access_20] = port_in("t10", 1, 20, {{10, 10}});
  return config;
}

PacketPtr contribution(PacketPool& pool, std::uint8_t from, std::size_t elements = 1) {
  CanarySpec spec;
  spec.hosts = 3;
  spec.rank = from;
  spec.destination = Ip(10, 0, 2, 9);
  spec.child_address = Ip(10, 0, from, 9);
  spec.source_mac = mac(from);
  spec.destination_mac = mac(2);
  return make_canary(pool, spec, Elements(elements, 3 + from));
}

void expect_results(std::size_t elements) {
  SwitchBench bench(aggregating());
  bench.send(trunk, tagged(between(bench, 2, 9), 10));
  EXPECT_TRUE(bench.send(0, tagged(contribution(bench.pool, 0, elements), priority(3))).empty());
  EXPECT_EQ(sent(bench.send(1, tagged(contribution(bench.pool, 1, elements), priority(3) | 10))),
            (Exits{{trunk, priority(3) | 10}}));

  CanarySpec spec;
  spec.kind = wire::CanaryKind::result;
  spec.hosts = 3;
  spec.counter = 3;
  spec.destination = Ip(10, 0, 0, 254);
  spec.child_address = Ip(10, 0, 2, 9);
  spec.source_mac = mac(2);
  spec.destination_mac = mac(0, 0xee);
  auto result = make_canary(bench.pool, spec, Elements(elements, 12));
  auto copies = bench.send(trunk, tagged(std::move(result), priority(4) | 10));
  EXPECT_EQ(sent(copies), (Exits{{0, no_tag}, {1, priority(4) | 10}}));
  for (const auto& copy : copies) {
    const auto child = static_cast<std::uint8_t>(copy->egress);
    EXPECT_EQ(ethernet_of(*copy).destination, mac(child));
    EXPECT_EQ(ip_of(*copy).destination, Ip(10, 0, child, 9));
  }
}

TEST(Vlans, EnginesTakeFramesOfTheSwitchsOwnVlan) {
  expect_results(1);
  expect_results(256);  // copies that share their elements
}

TEST(Vlans, EnginesTakeNoFramesOfOtherVlans) {
  SwitchBench bench(aggregating());
  bench.send(trunk, tagged(between(bench, 2, 9), 20));
  EXPECT_EQ(sent(bench.send(1, contribution(bench.pool, 1))), (Exits{{trunk, 20}}));
  EXPECT_EQ(bench.ledger().absorbed, 0u);
}

TEST(Vlans, OwnersAreThoseOfTheBlocksBelowTheTags) {
  HeapPacketPool pool(8, 512);
  const switching::Owners owners(aggregating(), 3);
  for (unsigned here = 0; here < 3; ++here) {
    auto plain = contribution(pool, 1);
    plain->ingress = 0;
    const auto owner = owners.core_of(*plain, here);
    EXPECT_EQ(plain->vlan, 10);
    auto with_tag = tagged(contribution(pool, 1), priority(2) | 10);
    with_tag->ingress = trunk;
    EXPECT_EQ(owners.core_of(*with_tag, here), owner);
    EXPECT_EQ(with_tag->vlan, priority(2) | 10);
    EXPECT_NE(engine::noted_claim(*with_tag), 0);
    auto of_others = tagged(contribution(pool, 1), 20);
    of_others->ingress = trunk;
    EXPECT_EQ(owners.core_of(*of_others, here), here);
    EXPECT_EQ(of_others->noted, 0);
    auto refused = tagged(contribution(pool, 1), 30);
    refused->ingress = trunk;
    EXPECT_EQ(owners.core_of(*refused, here), here);
    EXPECT_EQ(refused->vlan, 0) << "the switch says why";
  }
}

TEST(Vlans, EnginesOfABridgeWithoutVlansLookBehindPriorityTags) {
  for (const bool express : {true, false}) {
    auto config = without_vlans(aggregating());
    config.express_lane = express;
    SwitchBench bench(config);
    for (std::uint8_t host = 0; host < 3; ++host) {  // so that the lane knows the stations
      bench.send(host, between(bench, host, 9));
    }
    EXPECT_TRUE(bench.send(0, tagged(contribution(bench.pool, 0), priority(3))).empty());
    EXPECT_EQ(sent(bench.send(1, tagged(contribution(bench.pool, 1), priority(3)))),
              (Exits{{2, no_tag}}))
        << "the sum";
    EXPECT_EQ(bench.ledger().absorbed, 2u);
    EXPECT_EQ(sent(bench.send(1, tagged(contribution(bench.pool, 1), 10))), (Exits{{2, 10}}))
        << "it is in another VLAN";
  }
}

TEST(Vlans, OwnersLookBehindPriorityTagsWithoutVlans) {
  HeapPacketPool pool(8, 512);
  const switching::Owners owners(without_vlans(aggregating()), 3);
  for (unsigned here = 0; here < 3; ++here) {
    auto plain = contribution(pool, 1);
    auto with_tag = tagged(contribution(pool, 1), priority(2));
    EXPECT_EQ(owners.core_of(*with_tag, here), owners.core_of(*plain, here));
    EXPECT_NE(engine::noted_claim(*with_tag), 0);
    EXPECT_TRUE(std::ranges::equal(with_tag->bytes(), plain->bytes()));
    auto of_others = tagged(make_udp(pool, {mac(1), mac(2), own_ip, own_ip}, 5, 6), priority(2));
    EXPECT_EQ(owners.core_of(*of_others, here), here);
    EXPECT_EQ(of_others->noted, 0);
    EXPECT_EQ(take_tag(*of_others), priority(2));
  }
}

TEST(Vlans, WhatAnotherCoreHasNotedIsTaken) {
  SwitchBench bench(aggregating(), {0, 2});
  const switching::Owners owners(aggregating(), 2);
  bench.send(trunk, tagged(between(bench, 2, 9), 10));
  std::vector<PacketPtr> out;
  for (std::uint8_t from = 0; from < 2; ++from) {
    auto packet = contribution(bench.pool, from);
    packet = from == 0 ? std::move(packet) : tagged(std::move(packet), 10);
    packet->ingress = from;
    owners.core_of(*packet, 0);
    EXPECT_NE(packet->noted, 0);
    out = bench.send(from, std::move(packet));
  }
  EXPECT_EQ(sent(out), (Exits{{trunk, 10}}));
}

}  // namespace
}  // namespace tributary::test
