// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/route_table.h"

#include <random>

#include <gtest/gtest.h>

#include "forwarding/ecmp.h"

namespace tributary::forwarding {
namespace {

using Ip = wire::Ipv4Address;

Route route(Ip network, std::uint8_t length, std::vector<NextHop> hops) {
  return {{network, length}, Route::Kind::gateway, std::move(hops)};
}

// The next hop's port stands for the route.
PortIndex port_for(const RouteTable& table, Ip address) {
  const auto* group = table.find(address);
  return group == nullptr || group->live.empty() ? no_port : group->live.front().interface;
}

TEST(RouteTable, EmptyTableMatchesNothing) {
  EXPECT_EQ(RouteTable().find(Ip(0, 0, 0, 0)), nullptr);
  EXPECT_EQ(RouteTable().find(Ip(255, 255, 255, 255)), nullptr);
}

TEST(RouteTable, LongestPrefixWins) {
  const RouteTable table({route(Ip(10, 1, 0, 0), 16, {{Ip(1, 1, 1, 1), 2}}),
                          route(Ip(0, 0, 0, 0), 0, {{Ip(1, 1, 1, 1), 1}}),
                          route(Ip(10, 1, 2, 3), 32, {{Ip(1, 1, 1, 1), 4}}),
                          route(Ip(10, 1, 2, 0), 24, {{Ip(1, 1, 1, 1), 3}}),
                          route(Ip(255, 255, 255, 255), 32, {{Ip(1, 1, 1, 1), 5}})});
  EXPECT_EQ(port_for(table, Ip(9, 255, 255, 255)), 1);
  EXPECT_EQ(port_for(table, Ip(10, 1, 0, 0)), 2);
  EXPECT_EQ(port_for(table, Ip(10, 1, 2, 2)), 3);
  EXPECT_EQ(port_for(table, Ip(10, 1, 2, 3)), 4);
  EXPECT_EQ(port_for(table, Ip(10, 1, 2, 4)), 3);
  EXPECT_EQ(port_for(table, Ip(10, 1, 3, 0)), 2);
  EXPECT_EQ(port_for(table, Ip(10, 2, 0, 0)), 1);
  EXPECT_EQ(port_for(table, Ip(255, 255, 255, 255)), 5);
}

TEST(RouteTable, FirstOfEqualPrefixesWins) {
  const RouteTable table({route(Ip(10, 0, 0, 0), 8, {{Ip(1, 1, 1, 1), 1}}),
                          route(Ip(10, 9, 9, 9), 8, {{Ip(1, 1, 1, 1), 2}})});
  EXPECT_EQ(table.groups().size(), 1u);
  EXPECT_EQ(port_for(table, Ip(10, 3, 3, 3)), 1);
}

// Takes a sparse address space, and one of 256 addresses in which every edge of a prefix is met.
TEST(RouteTable, AgreesWithALinearSearch) {
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    const std::uint32_t space = round % 2 == 0 ? 0x0f0f00ff : 0xff;
    const std::uint32_t shortest = round % 2 == 0 ? 0 : 24;
    std::vector<Route> routes;
    for (PortIndex i = 0; i < 60; ++i) {
      const auto length = static_cast<std::uint8_t>(shortest + random() % (33 - shortest));
      routes.push_back(
          route(Ip(static_cast<std::uint32_t>(random() & space)), length, {{Ip(1, 1, 1, 1), i}}));
    }
    const RouteTable table(routes);
    for (int probe = 0; probe < 400; ++probe) {
      const Ip address(static_cast<std::uint32_t>(random() & space));
      const Route* best = nullptr;
      for (const auto& candidate : routes) {
        if (contains(candidate.prefix, address) &&
            (best == nullptr || candidate.prefix.length > best->prefix.length)) {
          best = &candidate;
        }
      }
      ASSERT_EQ(port_for(table, address),
                best == nullptr ? no_port : best->next_hops.front().interface);
    }
  }
}

TEST(RouteTable, CountsTheRoutesThatItLists) {
  auto own = route(Ip(10, 0, 0, 1), 32, {});
  own.kind = Route::Kind::local;
  auto connected = route(Ip(10, 0, 0, 0), 24, {{Ip(), 1}});
  connected.kind = Route::Kind::connected;
  const RouteTable table({route(Ip(0, 0, 0, 0), 0, {{Ip(1, 1, 1, 1), 1}}), own, connected});
  EXPECT_EQ(table.size(), 2u);
  EXPECT_EQ(table.size(), table.rows().size());
}

TEST(RouteTable, NextHopsLeaveTheirGroupWithTheirPort) {
  RouteTable table({route(Ip(0, 0, 0, 0), 0, {{Ip(1, 1, 1, 1), 1}, {Ip(1, 1, 1, 2), 2}})});
  const auto* group = table.find(Ip(8, 8, 8, 8));
  table.set_interface_up(1, false);
  ASSERT_EQ(group->live.size(), 1u);
  EXPECT_EQ(group->live[0].interface, 2);
  EXPECT_FALSE(table.rows()[0].next_hops[0].up);
  table.set_interface_up(2, false);
  EXPECT_TRUE(group->live.empty());
  table.set_interface_up(1, true);
  table.set_interface_up(2, true);
  ASSERT_EQ(group->live.size(), 2u);
  EXPECT_EQ(group->live[0].interface, 1) << "the order of the configuration is kept";
}

TEST(RouteTable, DeadNeighboursLeaveTheirGroupsWhateverTheirPort) {
  RouteTable table({route(Ip(0, 0, 0, 0), 0, {{Ip(1, 1, 1, 1), 1}, {Ip(1, 1, 1, 2), 1}}),
                    route(Ip(9, 0, 0, 0), 8, {{Ip(1, 1, 1, 1), 1}})});
  table.set_unhealthy({{Ip(1, 1, 1, 1), Ailment::dead}});
  ASSERT_EQ(table.find(Ip(8, 8, 8, 8))->live.size(), 1u);
  EXPECT_EQ(table.find(Ip(8, 8, 8, 8))->live[0].via, Ip(1, 1, 1, 2));
  EXPECT_TRUE(table.find(Ip(9, 8, 8, 8))->live.empty());
  table.set_interface_up(1, false);
  table.set_unhealthy({});
  EXPECT_TRUE(table.find(Ip(8, 8, 8, 8))->live.empty()) << "alive, but behind a port that is down";
  table.set_interface_up(1, true);
  EXPECT_EQ(table.find(Ip(8, 8, 8, 8))->live.size(), 2u);
}

TEST(RouteTable, ThoseThatAreCutOffAreTakenOnlyWhereNobodyElseIsLeft) {
  RouteTable table({route(Ip(0, 0, 0, 0), 0, {{Ip(1, 1, 1, 1), 1}, {Ip(1, 1, 1, 2), 2}})});
  const auto* group = table.find(Ip(8, 8, 8, 8));
  table.set_unhealthy({{Ip(1, 1, 1, 1), Ailment::cut_off}});
  ASSERT_EQ(group->live.size(), 1u);
  EXPECT_EQ(group->live[0].interface, 2);
  table.set_interface_up(2, false);
  ASSERT_EQ(group->live.size(), 1u);
  EXPECT_EQ(group->live[0].interface, 1);
  EXPECT_FALSE(table.cut_off());
  table.set_unhealthy({{Ip(1, 1, 1, 1), Ailment::dead}});
  EXPECT_TRUE(group->live.empty());
  EXPECT_TRUE(table.cut_off());
  table.set_interface_up(2, true);
  table.set_unhealthy({{Ip(1, 1, 1, 1), Ailment::cut_off}, {Ip(1, 1, 1, 2), Ailment::cut_off}});
  EXPECT_EQ(group->live.size(), 2u);
}

TEST(RouteTable, ThoseThatAreCrowdedStayAndAreKnown) {
  RouteTable table({route(Ip(0, 0, 0, 0), 0, {{Ip(1, 1, 1, 1), 1}, {Ip(1, 1, 1, 2), 2}})});
  const auto* group = table.find(Ip(8, 8, 8, 8));
  EXPECT_EQ(group->crowded, (std::vector<bool>{false, false}));
  table.set_unhealthy({{Ip(1, 1, 1, 2), Ailment::crowded}});
  EXPECT_EQ(group->live.size(), 2u);
  EXPECT_EQ(group->crowded, (std::vector<bool>{false, true}));
  table.set_unhealthy({{Ip(1, 1, 1, 1), Ailment::cut_off}, {Ip(1, 1, 1, 2), Ailment::crowded}});
  ASSERT_EQ(group->live.size(), 1u);
  EXPECT_EQ(group->live[0].interface, 2) << "crowded is better than cut off";
}

TEST(Ecmp, PickCoversTheGroupEvenly) {
  EXPECT_EQ(pick(0, 3), 0u);
  EXPECT_EQ(pick(0xffffffff, 3), 2u);
  std::vector<unsigned> hits(5);
  EcmpHash hash(42);
  wire::Ipv4Header ip;
  ip.protocol = wire::ip_protocol::udp;
  ip.source = Ip(10, 0, 0, 1);
  ip.destination = Ip(10, 0, 0, 2);
  for (std::uint32_t ports = 0; ports < 5000; ++ports) {
    const wire::be32 l4{ports};
    ++hits[pick(hash(ip, std::as_bytes(std::span(&l4, 1))), hits.size())];
  }
  for (const auto count : hits) {
    EXPECT_NEAR(count, 1000, 150);
  }
}

TEST(Ecmp, SeedsDifferAndFragmentsIgnorePorts) {
  wire::Ipv4Header ip;
  ip.protocol = wire::ip_protocol::tcp;
  const wire::be32 a{0x00010002u};
  const wire::be32 b{0x00010003u};
  const auto bytes = [](const wire::be32& value) { return std::as_bytes(std::span(&value, 1)); };
  EXPECT_NE(EcmpHash(1)(ip, bytes(a)), EcmpHash(2)(ip, bytes(a)));
  EXPECT_NE(EcmpHash(1)(ip, bytes(a)), EcmpHash(1)(ip, bytes(b)));
  ip.fragment = wire::Ipv4Header::more_fragments;
  EXPECT_EQ(EcmpHash(1)(ip, bytes(a)), EcmpHash(1)(ip, bytes(b)));
  EXPECT_EQ(EcmpHash(1)(ip, bytes(a)), EcmpHash(1)(ip, {}));
}

}  // namespace
}  // namespace tributary::forwarding
