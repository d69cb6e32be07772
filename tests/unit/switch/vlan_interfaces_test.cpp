// SPDX-License-Identifier: BSD-3-Clause
// Tests VLANs in which the router has an interface.
#include <chrono>
#include <utility>
#include <vector>

#include "protocols/canary/engine/config.h"
#include "support/canary_packets.h"
#include "switch/liveness.h"
#include "switch/owners.h"
#include "unit/switch/vlan_ports.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;

const Ip gateway_20(10, 0, 20, 254);
const Ip station_10(10, 0, 0, 1);
const Ip station_20(10, 0, 20, 2);
const auto router_mac = mac(0, 0xee);
const Endpoints from_10{mac(1), router_mac, station_10, station_20};
const Endpoints from_20{mac(2), router_mac, station_20, station_10};

switching::SwitchConfig two_routed_vlans() {
  auto config = four_ports();
  config.vlans = {{20, forwarding::InterfaceAddress{gateway_20, 24}}};
  return config;
}

// The stations are known, behind the access ports of their VLANs.
void introduce(SwitchBench& bench) {
  const Endpoints first{mac(1), wire::broadcast_mac, station_10, own_ip};
  const Endpoints second{mac(2), wire::broadcast_mac, station_20, gateway_20};
  bench.send(access_10, make_arp(bench.pool, wire::ArpHeader::request, first));
  bench.send(access_20, make_arp(bench.pool, wire::ArpHeader::request, second));
}

TEST(VlanInterfaces, AnswerArpAndEchoInTheirVlan) {
  SwitchBench bench(two_routed_vlans());
  const Endpoints ask{mac(2), wire::broadcast_mac, station_20, gateway_20};
  auto answers = bench.send(trunk, tagged(make_arp(bench.pool, wire::ArpHeader::request, ask), 20));
  EXPECT_EQ(sent(answers), (Exits{{trunk, 20}})) << "nobody else is asked";
  EXPECT_EQ(arp_of(*answers[0]).sender_mac, router_mac);
  EXPECT_EQ(arp_of(*answers[0]).sender_address, gateway_20);
  EXPECT_EQ(bench.device().arp(bench.now).at(0).interface, forwarding::vlan_interface(20));

  const Endpoints ping{mac(2), router_mac, station_20, gateway_20};
  EXPECT_EQ(sent(bench.send(trunk, tagged(make_echo(bench.pool, ping), priority(6) | 20))),
            (Exits{{trunk, priority(6) | 20}}));
  EXPECT_EQ(
      sent(bench.send(native, tagged(make_arp(bench.pool, wire::ArpHeader::request, ask), 21))),
      Exits{})
      << "there is no interface in VLAN 21";
  const Endpoints elsewhere{mac(1), wire::broadcast_mac, station_10, gateway_20};
  EXPECT_EQ(sent(bench.send(access_10, make_arp(bench.pool, wire::ArpHeader::request, elsewhere))),
            (Exits{{trunk, 10}, {native, no_tag}}))
      << "its address is in VLAN 20";
}

TEST(VlanInterfaces, RouteBetweenVlans) {
  for (const bool express : {true, false}) {
    auto config = two_routed_vlans();
    config.express_lane = express;
    SwitchBench bench(config);
    introduce(bench);
    auto there = bench.send(access_10, make_udp(bench.pool, from_10, 5, 6));
    EXPECT_EQ(sent(there), (Exits{{access_20, no_tag}}));
    EXPECT_EQ(ethernet_of(*there[0]).destination, mac(2));
    EXPECT_EQ(ethernet_of(*there[0]).source, router_mac);
    EXPECT_EQ(ip_of(*there[0]).ttl, 63);
    EXPECT_EQ(sent(bench.send(access_20, make_udp(bench.pool, from_20, 5, 6))),
              (Exits{{access_10, no_tag}}));
    // Stations that moved to the trunk.
    bench.send(trunk, tagged(make_echo(bench.pool, {mac(1), mac(9), station_10, own_ip}), 10));
    bench.send(trunk, tagged(make_echo(bench.pool, {mac(2), mac(9), station_20, own_ip}), 20));
    auto marked = make_udp(bench.pool, from_10, 5, 6);
    ip_of(*marked).tos = 5 << 5;
    wire::finish_ipv4(ip_of(*marked));
    EXPECT_EQ(sent(bench.send(trunk, tagged(std::move(marked), priority(3) | 10))),
              (Exits{{trunk, priority(5) | 20}}))
        << "in another VLAN its class selector is its priority";
    EXPECT_EQ(sent(bench.send(trunk, tagged(make_udp(bench.pool, from_20, 5, 6), 20))),
              (Exits{{trunk, 10}}));
  }
}

TEST(VlanInterfaces, RouteToAndFromRoutedPorts) {
  auto config = two_routed_vlans();
  config.ports.push_back(routed_port("up", 4, Ip(10, 9, 0, 1)));
  config.arp = {{Ip(10, 9, 0, 2), mac(9)}};
  config.routes = {{{Ip(10, 30, 0, 0), 16}, {station_20}}};
  for (const bool express : {true, false}) {
    config.express_lane = express;
    SwitchBench bench(config);
    introduce(bench);
    const Endpoints up{mac(2), router_mac, station_20, Ip(10, 9, 0, 2)};
    auto routed = bench.send(access_20, make_udp(bench.pool, up, 5, 6));
    ASSERT_EQ(routed.size(), 1u);
    EXPECT_EQ(routed[0]->egress, 4);
    EXPECT_EQ(take_tag(*routed[0]), no_tag);
    const Endpoints down{mac(9), mac(4, 0xee), Ip(10, 9, 0, 2), station_20};
    EXPECT_EQ(sent(bench.send(4, make_udp(bench.pool, down, 5, 6))), (Exits{{access_20, no_tag}}));
    const Endpoints behind{mac(9), mac(4, 0xee), Ip(10, 9, 0, 2), Ip(10, 30, 1, 1)};
    routed = bench.send(4, make_udp(bench.pool, behind, 5, 6));
    EXPECT_EQ(sent(routed), (Exits{{access_20, no_tag}}));
    EXPECT_EQ(ethernet_of(*routed[0]).destination, mac(2)) << "a gateway in the VLAN";
  }
}

TEST(VlanInterfaces, AskInTheirVlanAndKeepWhatWaits) {
  SwitchBench bench(two_routed_vlans());
  auto questions = bench.send(access_10, make_udp(bench.pool, from_10, 5, 6));
  EXPECT_EQ(sent(questions), (Exits{{access_20, no_tag}, {trunk, 20}, {native, 20}}));
  EXPECT_EQ(arp_of(*questions[0]).sender_address, gateway_20);
  const Endpoints reply{mac(2), router_mac, station_20, gateway_20};
  EXPECT_EQ(
      sent(bench.send(trunk, tagged(make_arp(bench.pool, wire::ArpHeader::reply, reply), 20))),
      (Exits{{trunk, 20}}));
}

TEST(VlanInterfaces, FloodToStationsThatAreNotHeard) {
  auto config = two_routed_vlans();
  config.arp = {{station_20, mac(2)}};
  SwitchBench bench(config);
  EXPECT_EQ(sent(bench.send(access_10, make_udp(bench.pool, from_10, 5, 6))),
            (Exits{{access_20, no_tag}, {trunk, 20}, {native, 20}}));
}

TEST(VlanInterfaces, TellOfErrorsFromTheirAddress) {
  auto config = two_routed_vlans();
  config.ports[access_10].mtu = 1000;
  SwitchBench bench(config);
  introduce(bench);
  auto late = make_udp(bench.pool, from_20, 5, 6);
  ip_of(*late).ttl = 1;
  wire::finish_ipv4(ip_of(*late));
  auto errors = bench.send(access_20, std::move(late));
  EXPECT_EQ(sent(errors), (Exits{{access_20, no_tag}}));
  EXPECT_EQ(ip_of(*errors[0]).source, gateway_20);
  EXPECT_EQ(l4_header<wire::IcmpHeader>(*errors[0]).type, wire::IcmpHeader::time_exceeded);
  errors = bench.send(access_20, make_udp(bench.pool, from_20, 5, 6, 1200));
  EXPECT_EQ(sent(errors), (Exits{{access_20, no_tag}}));
  EXPECT_EQ(l4_header<wire::IcmpHeader>(*errors[0]).rest.value(), 1000u)
      << "the least of the ports of VLAN 10";
  EXPECT_EQ(bench.drops(DropReason::fragmentation_needed), 1u);
}

TEST(VlanInterfaces, CountWhatIsRouted) {
  SwitchBench bench(two_routed_vlans());
  introduce(bench);
  bench.send(access_20, make_udp(bench.pool, from_20, 5, 6));
  bench.send(access_20, make_udp(bench.pool, {mac(2), mac(7), station_20, station_10}, 5, 6));
  const auto rows = bench.device().vlans();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].interface, forwarding::vlan_interface(20));
  EXPECT_EQ(rows[0].vid, 20);
  EXPECT_EQ(rows[0].counters.rx_packets, 2u) << "a question and a packet";
  EXPECT_EQ(rows[0].counters.tx_packets, 1u) << "an answer";
  EXPECT_EQ(rows[0].counters.tx_bytes, 60u);
  EXPECT_EQ(rows[1].interface, forwarding::bridge_interface);
  EXPECT_EQ(rows[1].vid, 10);
  EXPECT_EQ(rows[1].counters.tx_packets, 2u);
}

TEST(VlanInterfaces, ComeMoveAndGoWithAReload) {
  auto config = two_routed_vlans();
  SwitchBench bench(config);
  introduce(bench);
  auto without = config;
  without.vlans.clear();
  bench.device().reconfigure(without);
  EXPECT_TRUE(bench.send(access_20, make_udp(bench.pool, from_20, 5, 6)).empty());
  EXPECT_EQ(bench.drops(DropReason::local_unserved), 1u);
  sent(bench.send(access_10, make_udp(bench.pool, from_10, 5, 6)));
  EXPECT_EQ(bench.drops(DropReason::no_route), 1u);
  EXPECT_EQ(bench.device().arp(bench.now).size(), 1u) << "that of VLAN 10";

  config.vlans[0].vid = 21;
  bench.device().reconfigure(config);
  auto questions = bench.send(access_10, make_udp(bench.pool, from_10, 5, 6));
  EXPECT_EQ(sent(questions), (Exits{{native, 21}}));
  EXPECT_EQ(arp_of(*questions[0]).sender_address, gateway_20);

  config.vlans[0].vid = 20;
  bench.device().reconfigure(config);
  EXPECT_LE(bench.advance(2s).size(), 4u) << "an announcement in VLAN 20, and a question";
  introduce(bench);
  EXPECT_EQ(sent(bench.send(access_10, make_udp(bench.pool, from_10, 5, 6))),
            (Exits{{access_20, no_tag}}));

  EXPECT_EQ(bench.device().arp(bench.now).size(), 2u);
  config.bridge_vlan = 22;
  bench.device().reconfigure(config);
  EXPECT_EQ(bench.device().arp(bench.now).size(), 1u) << "those of VLAN 10 are nobody's neighbours";
}

TEST(VlanInterfaces, TeachTheOtherCores) {
  SwitchBench first(two_routed_vlans(), {0, 2});
  SwitchBench second(two_routed_vlans(), {1, 2});
  introduce(first);
  for (const auto& update : first.table_updates) {
    second.device().learn(*update, second.now);
  }
  EXPECT_EQ(sent(second.send(access_10, make_udp(second.pool, from_10, 5, 6))),
            (Exits{{access_20, no_tag}}));
}

// One core has all sessions, also those with next hops in VLANs that have no engine.
TEST(VlanInterfaces, HaveTheirSessionsOnTheCoreThatKeepsThem) {
  auto config = two_routed_vlans();
  config.bfd = forwarding::BfdConfig{};
  config.routes = {{{Ip(10, 30, 0, 0), 16}, {station_20}}};
  const switching::Owners owners(config, 2);
  HeapPacketPool pool(4, 1600);
  const Endpoints session{mac(2), router_mac, station_20, gateway_20};
  const auto core_of = [&](std::uint16_t port) {
    auto packet = tagged(make_udp(pool, session, 50000, port), 20);
    packet->ingress = trunk;
    return owners.core_of(*packet, 1);
  };
  EXPECT_EQ(core_of(wire::bfd_port), switching::Liveness::core);
  EXPECT_EQ(core_of(5), 1u);
}

TEST(VlanInterfaces, TakeTheirSessionsAlongToAnotherVlan) {
  auto config = two_routed_vlans();
  config.bfd = forwarding::BfdConfig{};
  config.arp = {{station_20, mac(2)}};
  config.routes = {{{Ip(10, 30, 0, 0), 16}, {station_20}}};
  SwitchBench bench(config);
  EXPECT_EQ(sent(bench.advance(2s)),
            (Exits{{access_20, no_tag}, {trunk, priority(6) | 20}, {native, priority(6) | 20}}));
  config.vlans[0].vid = 21;
  bench.device().reconfigure(config);
  EXPECT_EQ(sent(bench.advance(2s)), (Exits{{native, 21}, {native, priority(6) | 21}}))
      << "the address is announced there";
  EXPECT_EQ(bench.device().bfd().at(0).interface, forwarding::vlan_interface(21));
}

// Engines take only packets of the switch's own VLAN; those of others are routed like any packet.
TEST(VlanInterfaces, RouteContributionsOfTheirVlan) {
  auto config = two_routed_vlans();
  config.address = own_ip;
  config.protocols.emplace<canary::CanaryConfig>({});
  SwitchBench bench(config);
  introduce(bench);
  CanarySpec spec;
  spec.hosts = 2;
  spec.destination = station_10;
  spec.child_address = station_20;
  spec.source_mac = mac(2);
  spec.destination_mac = router_mac;
  auto packet = make_canary(bench.pool, spec, std::vector<std::int32_t>{1});
  EXPECT_EQ(sent(bench.send(access_20, std::move(packet))), (Exits{{access_10, no_tag}}));
}

}  // namespace
}  // namespace tributary::test
