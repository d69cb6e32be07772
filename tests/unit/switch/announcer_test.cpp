// SPDX-License-Identifier: BSD-3-Clause
#include "switch/announcer.h"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "support/frames6.h"
#include "unit/switch/vlan_ports.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;
using wire::NeighbourMessage;

const Ip told_ip(10, 1, 1, 1);
const auto told_ip6 = ip6(1, 1);
const auto told_mac = mac(0, 0xee);

// A port with an address of each version, and two ports without addresses, which are a bridge
// without one.
switching::SwitchConfig one_router_port() {
  switching::SwitchConfig config;
  config.id = 1;
  config.table_seed = 1;
  config.ports = {routed_port("told", 0, told_ip), bridged_port("x", 1), bridged_port("y", 2)};
  config.ports[0].address6 = forwarding::InterfaceAddress6{told_ip6, 64};
  return config;
}

switching::SwitchConfig bridge_without_vlans() {
  switching::SwitchConfig config;
  config.id = 1;
  config.table_seed = 1;
  config.ports = {bridged_port("x", 0), bridged_port("y", 1)};
  config.bridge_address = forwarding::InterfaceAddress{own_ip, 24};
  return config;
}

// Returns the time of each announcement after the first second, until none is due.
std::vector<Duration> times_of_announcements(SwitchBench& bench) {
  const auto begin = bench.now;
  std::vector<Duration> times;
  while (bench.now - begin < 1min && bench.device().deadline() != never) {
    bench.now = std::max(bench.now, bench.device().deadline());
    if (!bench.advance(0s).empty()) {
      times.push_back(bench.now - begin);
    }
  }
  return times;
}

TEST(Announcer, SaysWhichLinkLayerAddressTheRouterHas) {
  SwitchBench bench(one_router_port());
  bench.device().announce();
  EXPECT_LE(bench.device().deadline(), bench.now);
  auto out = bench.advance(0s);
  ASSERT_EQ(out.size(), 2u);

  EXPECT_EQ(out[0]->egress, 0);
  EXPECT_EQ(ethernet_of(*out[0]).destination, wire::broadcast_mac);
  EXPECT_EQ(ethernet_of(*out[0]).source, told_mac);
  EXPECT_EQ(out[0]->length, wire::ethernet_min_frame_bytes);
  const auto& arp = arp_of(*out[0]);
  EXPECT_EQ(arp.operation.value(), wire::ArpHeader::request);
  EXPECT_EQ(arp.sender_mac, told_mac);
  EXPECT_EQ(arp.sender_address, told_ip);
  EXPECT_EQ(arp.target_address, told_ip);
  EXPECT_TRUE(arp.target_mac.is_zero());

  EXPECT_EQ(out[1]->egress, 0);
  EXPECT_EQ(ethernet_of(*out[1]).destination, wire::group_mac_of(wire::all_nodes));
  EXPECT_EQ(ethernet_of(*out[1]).source, told_mac);
  EXPECT_TRUE(has_right_icmp6_checksum(*out[1]));
  EXPECT_EQ(ip6_of(*out[1]).hop_limit, 255);
  EXPECT_EQ(Ip6(ip6_of(*out[1]).source), told_ip6);
  EXPECT_EQ(Ip6(ip6_of(*out[1]).destination), wire::all_nodes);
  auto& message = l4_header6<NeighbourMessage>(*out[1]);
  EXPECT_EQ(message.icmp.type, wire::Icmp6Header::neighbour_advertisement);
  EXPECT_EQ(message.icmp.rest.value(), 0xa0000000u) << "a router, not solicited, overrides";
  EXPECT_EQ(Ip6(message.target), told_ip6);
  const auto& link = *reinterpret_cast<wire::LinkAddressOption*>(&message + 1);
  EXPECT_EQ(link.type, wire::LinkAddressOption::of_target);
  EXPECT_EQ(link.mac, told_mac);
}

TEST(Announcer, SpeaksThriceAndIsSilentThen) {
  SwitchBench bench(one_router_port());
  bench.device().announce();
  EXPECT_EQ(times_of_announcements(bench), (std::vector<Duration>{0s, 2s, 4s}));
  EXPECT_EQ(bench.ledger().sent, 6u);
}

TEST(Announcer, SaysNothingBeforeItIsTold) {
  SwitchBench bench(one_router_port());
  EXPECT_EQ(bench.device().deadline(), never);
}

TEST(Announcer, NamesTheSwitchWhereItIsANeighbour) {
  auto config = one_router_port();
  config.address = Ip(10, 1, 1, 77);
  config.ports[1].address = forwarding::InterfaceAddress{Ip(10, 1, 2, 1), 24};
  SwitchBench bench(config);
  bench.device().announce();
  std::vector<std::pair<PortIndex, Ip>> said;
  for (auto& frame : bench.advance(0s)) {
    if (ethernet_of(*frame).type.value() == wire::ethertype::arp) {
      said.emplace_back(frame->egress, arp_of(*frame).sender_address);
    }
  }
  EXPECT_EQ(said, (std::vector<std::pair<PortIndex, Ip>>{
                      {0, told_ip}, {0, config.address}, {1, Ip(10, 1, 2, 1)}}));
}

TEST(Announcer, BeginsAnewWhenALinkComesUp) {
  SwitchBench bench(one_router_port());
  bench.device().set_port_up(0, false);
  bench.device().announce();
  EXPECT_TRUE(bench.advance(0s).empty());
  EXPECT_EQ(bench.device().deadline(), never) << "nothing to say to nobody";
  bench.device().set_port_up(0, true);
  EXPECT_EQ(times_of_announcements(bench), (std::vector<Duration>{0s, 2s, 4s}));
}

TEST(Announcer, IsNotHurriedByALinkThatComesAndGoes) {
  SwitchBench bench(one_router_port());
  bench.device().announce();
  std::size_t frames = 0;
  for (int i = 0; i < 100; ++i) {
    bench.device().set_port_up(0, false);
    bench.device().set_port_up(0, true);
    frames += bench.advance(100ms).size();
  }
  EXPECT_EQ(frames, 2u * 5) << "two frames each other second";
}

TEST(Announcer, SpeaksInEachVlanThatHasAnAddress) {
  auto config = four_ports();
  config.vlans = {{20, forwarding::InterfaceAddress{Ip(10, 0, 20, 254), 24}, std::nullopt, false},
                  {21, std::nullopt, std::nullopt, false}};
  SwitchBench bench(config);
  bench.device().announce();
  EXPECT_EQ(sent(bench.advance(0s)), (Exits{{access_20, no_tag},
                                            {trunk, 20},
                                            {trunk, 10},
                                            {native, 20},
                                            {native, no_tag},
                                            {access_10, no_tag}}));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(bench.advance(2s).size(), 6u);
  }
  EXPECT_TRUE(bench.advance(2s).empty());
  // This concerns only the VLAN that the port carries.
  bench.device().set_port_up(access_20, false);
  bench.device().set_port_up(access_20, true);
  EXPECT_EQ(sent(bench.advance(0s)), (Exits{{access_20, no_tag}, {trunk, 20}, {native, 20}}));
}

TEST(Announcer, SpeaksOnABridgeWithoutVlans) {
  SwitchBench bench(bridge_without_vlans());
  bench.device().set_port_up(1, false);
  bench.device().set_port_up(1, true);
  auto out = bench.advance(0s);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(arp_of(*out[0]).sender_address, own_ip);
}

TEST(Announcer, SaysWhatAReloadBrought) {
  auto config = four_ports();
  SwitchBench bench(config);
  bench.device().reconfigure(config);
  EXPECT_EQ(bench.device().deadline(), never) << "nothing is new";
  config.vlans = {{20, forwarding::InterfaceAddress{Ip(10, 0, 20, 254), 24}, std::nullopt, false}};
  bench.device().reconfigure(config);
  auto out = bench.advance(0s);
  ASSERT_EQ(out.size(), 3u) << "and not in VLAN 10";
  EXPECT_EQ(sent(out), (Exits{{access_20, no_tag}, {trunk, 20}, {native, 20}}));
  bench.advance(10s);
  bench.advance(10s);
  config.vlans[0].address->address = Ip(10, 0, 20, 253);
  bench.device().reconfigure(config);
  out = bench.advance(10s);
  ASSERT_FALSE(out.empty());
  EXPECT_EQ(arp_of(*out[0]).sender_address, Ip(10, 0, 20, 253));
}

TEST(Announcer, SpeaksInTheVlanThatTheBridgeHasMovedTo) {
  auto config = four_ports();
  SwitchBench bench(config);
  config.bridge_vlan = 20;
  bench.device().reconfigure(config);
  EXPECT_EQ(sent(bench.advance(0s)), (Exits{{access_20, no_tag}, {trunk, 20}, {native, 20}}));
}

TEST(Announcer, SpeaksOnOneCoreOnly) {
  SwitchBench other(one_router_port(), {1, 2});
  other.device().announce();
  EXPECT_EQ(other.device().deadline(), never);
  EXPECT_TRUE(other.advance(0s).empty());
}

}  // namespace
}  // namespace tributary::test
