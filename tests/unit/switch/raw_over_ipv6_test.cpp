// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <utility>
#include <vector>

#include "protocols/canary/engine/config.h"
#include "support/canary_packets.h"
#include "support/frames6.h"
#include "support/switch_bench.h"

// Canary directly over Ethernet is sent on by the routes and neighbours of IPv6, where a switch has
// no other addresses.
namespace tributary::test {
namespace {

using Elements = std::vector<std::int32_t>;

constexpr wire::EmbeddingPrefix raw_prefix{0x20010db800640000, 0};
const Ip raw_switch(10, 0, 255, 1);
constexpr PortIndex raw_leader = 2;

Ip raw_rank(std::uint8_t number) {
  return {10, 0, number, 9};
}

// Host n is behind port n; host 2 leads.
switching::SwitchConfig ipv6_router() {
  switching::SwitchConfig config;
  config.id = 1;
  config.address = raw_switch;
  config.embedding_prefix = raw_prefix;
  config.protocols.emplace<canary::CanaryConfig>({});
  for (std::uint8_t i = 0; i < 3; ++i) {
    auto port = bridged_port(std::string(1, static_cast<char>('a' + i)), i);
    port.address6 = forwarding::InterfaceAddress6{raw_prefix.embed(Ip(10, 0, i, 1)), 120};
    config.ports.push_back(std::move(port));
    config.neighbours6.push_back({raw_prefix.embed(raw_rank(i)), mac(i)});
  }
  return config;
}

switching::SwitchConfig ipv6_bridge() {
  auto config = ipv6_router();
  config.bridge_address6 = forwarding::InterfaceAddress6{raw_prefix.embed(Ip(10, 0, 0, 254)), 112};
  for (auto& port : config.ports) {
    port.address6.reset();
  }
  return config;
}

switching::SwitchConfig both_versions() {
  auto config = ipv6_router();
  for (std::uint8_t i = 0; i < 3; ++i) {
    config.ports[i].address = forwarding::InterfaceAddress{Ip(10, 0, i, 1), 24};
    config.arp.push_back({raw_rank(i), mac(i)});
  }
  return config;
}

CanarySpec group_contribution(std::uint8_t from) {
  CanarySpec spec;
  spec.hosts = 3;
  spec.rank = from;
  spec.destination = raw_rank(2);
  spec.child_address = raw_rank(from);
  spec.source_mac = mac(from);
  spec.destination_mac = wire::canary_group_mac;
  spec.fingerprint = 100u + from;
  spec.encapsulation = wire::Encapsulation::ethernet;
  spec.child_port = 0;
  return spec;
}

CanarySpec group_result() {
  CanarySpec spec;
  spec.kind = wire::CanaryKind::result;
  spec.encapsulation = wire::Encapsulation::ethernet;
  spec.hosts = 3;
  spec.counter = 3;
  spec.destination = raw_switch;
  spec.child_address = raw_rank(2);
  spec.child_port = 0;
  spec.source_mac = mac(2);
  spec.destination_mac = wire::canary_group_mac;
  return spec;
}

void expect_raw_sum(SwitchBench& bench) {
  PacketPtr sum;
  for (std::uint8_t from = 0; from < 2; ++from) {
    for (auto& packet :
         bench.send(from, make_canary(bench.pool, group_contribution(from), Elements{5}))) {
      sum = std::move(packet);
    }
  }
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->egress, raw_leader);
  EXPECT_FALSE(sum->over_ipv6);
  EXPECT_EQ(ethernet_of(*sum).type.value(), wire::ethertype::canary);
  EXPECT_EQ(ethernet_of(*sum).destination, mac(2));
  EXPECT_EQ(canary_header(*sum)->counter.value(), 2);
}

TEST(RawOverIpv6, SumsGoByTheRoutesOfIpv6) {
  SwitchBench bench(ipv6_router());
  expect_raw_sum(bench);
  const auto copies = bench.send(raw_leader, make_canary(bench.pool, group_result(), Elements{12}));
  ASSERT_EQ(copies.size(), 2u);
  for (const auto& copy : copies) {
    EXPECT_EQ(ethernet_of(*copy).type.value(), wire::ethertype::canary);
    EXPECT_EQ(ethernet_of(*copy).destination, mac(static_cast<std::uint8_t>(copy->egress)));
  }
}

TEST(RawOverIpv6, SumsGoOverABridgeThatSpeaksIpv6Alone) {
  SwitchBench bench(ipv6_bridge());
  bench.send(raw_leader, make_udp(bench.pool, {mac(2), mac(9), raw_rank(2), raw_rank(9)}, 5, 6));
  expect_raw_sum(bench);
}

TEST(RawOverIpv6, TheLeadersLastHopIsKnown) {
  SwitchBench by_6(ipv6_router());
  SwitchBench by_4(both_versions());
  for (auto* bench : {&by_6, &by_4}) {
    bench->send(0, make_canary(bench->pool, group_contribution(0), Elements{5}));
  }
  EXPECT_EQ(by_6.device().deadline(), by_4.device().deadline());
}

TEST(RawOverIpv6, AnInterfaceOfBothVersionsTakesIpv4) {
  auto config = both_versions();
  config.neighbours6.clear();
  SwitchBench bench(config);
  expect_raw_sum(bench);
}

TEST(RawOverIpv6, WhatHasNoWayIsDropped) {
  auto config = ipv6_router();
  config.routes6 = {{{raw_prefix.embed(Ip(10, 7, 0, 0)), 112}, {raw_prefix.embed(raw_rank(1))}}};
  config.ports[raw_leader].mtu = 100;
  SwitchBench bench(config);
  const auto send_from = [&](PortIndex port, const Ip& leader, std::uint8_t source) {
    auto spec = group_contribution(source);
    spec.bypass = true;
    spec.destination = leader;
    return bench.send(port, make_canary(bench.pool, spec, Elements(40, 5))).size();
  };
  EXPECT_EQ(send_from(0, Ip(10, 9, 0, 1), 0), 0u);
  EXPECT_EQ(bench.drops(DropReason::ip6_no_route), 1u);
  EXPECT_EQ(send_from(0, raw_rank(2), 0), 0u);
  EXPECT_EQ(bench.drops(DropReason::packet_too_big), 1u);
  EXPECT_EQ(send_from(0, Ip(10, 0, 1, 1), 0), 0u);
  EXPECT_EQ(bench.drops(DropReason::local_unserved), 1u) << "an address of the switch";
  EXPECT_EQ(send_from(0, Ip(10, 7, 0, 1), 0), 1u);
  EXPECT_EQ(send_from(1, Ip(10, 7, 0, 1), 0), 1u) << "another station of the router's link";
  EXPECT_EQ(send_from(1, Ip(10, 7, 0, 1), 1), 0u);
  EXPECT_EQ(bench.drops(DropReason::ttl_exceeded), 1u) << "it would go back to the router";
  bench.device().set_port_up(1, false);
  EXPECT_EQ(send_from(0, Ip(10, 7, 0, 1), 0), 0u);
  EXPECT_EQ(bench.drops(DropReason::next_hops_down), 1u);
}

// The leader is behind two routers, at ports 2 and 3.
switching::SwitchConfig ipv6_leaf() {
  auto config = ipv6_router();
  auto port = bridged_port("d", 3);
  port.address6 = forwarding::InterfaceAddress6{raw_prefix.embed(Ip(10, 0, 3, 1)), 120};
  config.ports.push_back(std::move(port));
  config.neighbours6.push_back({raw_prefix.embed(raw_rank(3)), mac(3)});
  config.routes6 = {{{raw_prefix.embed(Ip(10, 7, 0, 0)), 112},
                     {raw_prefix.embed(raw_rank(2)), raw_prefix.embed(raw_rank(3))}}};
  return config;
}

// Has both hosts contribute to a block, and returns the port by which its sum goes to a router.
PortIndex way_of_raw_sum(SwitchBench& bench, std::uint32_t block) {
  std::vector<PacketPtr> sum;
  for (std::uint8_t from = 0; from < 2; ++from) {
    auto spec = group_contribution(from);
    spec.id = block;
    spec.destination = Ip(10, 7, 0, 1);
    sum = bench.send(from, make_canary(bench.pool, spec, Elements{5}));
  }
  EXPECT_EQ(sum.size(), 1u);
  if (sum.empty()) {
    return no_port;
  }
  EXPECT_EQ(ethernet_of(*sum[0]).destination, mac(static_cast<std::uint8_t>(sum[0]->egress)));
  return sum[0]->egress;
}

TEST(RawOverIpv6, BlocksAreSpreadOverNextHopsAndEvadeAFullQueue) {
  SwitchBench bench(ipv6_leaf());
  std::size_t by_2 = 0;
  for (std::uint32_t block = 0; block < 32; ++block) {
    by_2 += way_of_raw_sum(bench, block) == 2 ? 1 : 0;
  }
  EXPECT_GT(by_2, 0u);
  EXPECT_LT(by_2, 32u);
  bench.gauges[2].publish_bytes(bench.gauges[2].capacity());
  for (std::uint32_t block = 32; block < 64; ++block) {
    EXPECT_EQ(way_of_raw_sum(bench, block), 3);
  }
  EXPECT_GT(bench.device().routes6().back().counters.evaded, 0u);
}

}  // namespace
}  // namespace tributary::test
