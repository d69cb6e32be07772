// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/route_table6.h"

#include <algorithm>
#include <optional>
#include <random>

#include <gtest/gtest.h>

#include "support/frames6.h"

namespace tributary::forwarding {
namespace {

using test::ip6;
using test::Ip6;

Route6 by(const Prefix6& prefix, PortIndex interface) {
  return {prefix, Route::Kind::gateway, {{Ip6::of_halves(1, interface), interface}}};
}

std::optional<PortIndex> found(const RouteTable6& table, const Ip6& address) {
  const auto* group = table.find(address);
  return group == nullptr ? std::nullopt : std::optional(group->route.next_hops[0].interface);
}

TEST(RouteTable6, FindsNothingWithoutRoutes) {
  EXPECT_EQ(RouteTable6().find(ip6(1, 1)), nullptr);
  EXPECT_EQ(RouteTable6().find(Ip6()), nullptr);
}

TEST(RouteTable6, TheLongestPrefixWinsUpToBothEnds) {
  const auto last = Ip6::of_halves(~std::uint64_t{0}, ~std::uint64_t{0});
  const RouteTable6 table({by({last, 128}, 3), by({Ip6(), 0}, 1), by({ip6(1, 0), 64}, 2),
                           by({Ip6(), 128}, 4), by({Ip6(), 0}, 9)});
  EXPECT_EQ(found(table, Ip6()), 4);
  EXPECT_EQ(found(table, Ip6::of_halves(0, 1)), 1);
  EXPECT_EQ(found(table, ip6(1, 0)), 2);
  EXPECT_EQ(found(table, Ip6::of_halves(ip6(1, 0).high(), ~std::uint64_t{0})), 2);
  EXPECT_EQ(found(table, Ip6::of_halves(ip6(1, 0).high() + 1, 0)), 1);
  EXPECT_EQ(found(table, last), 3);
  EXPECT_EQ(found(table, Ip6::of_halves(~std::uint64_t{0}, ~std::uint64_t{1})), 1);
  EXPECT_EQ(table.size(), 4u) << "of equal prefixes one";
}

// Compares the table with the definition, on addresses of few bits, so that prefixes overlap.
TEST(RouteTable6, FindsWhatTheDefinitionSays) {
  std::mt19937_64 random(6);
  const auto draw = [&] {
    const std::uint64_t bits[] = {0, ~std::uint64_t{0}, std::uint64_t{1} << 63, 1,
                                  0x8000000000000001};
    return Ip6::of_halves(bits[random() % 5], bits[random() % 5]);
  };
  for (int round = 0; round < 50; ++round) {
    std::vector<Route6> routes;
    for (PortIndex i = 0; i < 40; ++i) {
      const auto length = static_cast<std::uint8_t>(random() % 129);
      routes.push_back(by({network_of(draw(), length), length}, i));
    }
    const RouteTable6 table(routes);
    for (int i = 0; i < 200; ++i) {
      const auto address = draw();
      const Route6* best = nullptr;
      for (const auto& route : routes) {
        if (contains(route.prefix, address) &&
            (best == nullptr || route.prefix.length > best->prefix.length)) {
          best = &route;
        }
      }
      const auto expected =
          best == nullptr ? std::nullopt : std::optional(best->next_hops[0].interface);
      ASSERT_EQ(found(table, address), expected);
    }
  }
}

TEST(RouteTable6, LinksThatAreDownLeaveTheirGroups) {
  RouteTable6 table({{{Ip6(), 0}, Route::Kind::gateway, {{ip6(1, 1), 1}, {ip6(2, 1), 2}}}});
  table.set_interface_up(1, false);
  ASSERT_EQ(table.find(ip6(9, 9))->live.size(), 1u);
  EXPECT_EQ(table.find(ip6(9, 9))->live[0].interface, 2);
  EXPECT_FALSE(table.rows()[0].next_hops[0].up);
  table.set_interface_up(2, false);
  EXPECT_TRUE(table.find(ip6(9, 9))->live.empty());
  table.set_interface_up(1, true);
  table.set_interface_up(2, true);
  EXPECT_EQ(table.find(ip6(9, 9))->live.size(), 2u);
}

TEST(RouteTable6, ShowsNoAddressesOfTheSwitch) {
  const RouteTable6 table({{{ip6(1, 1), 128}, Route::Kind::local, {}},
                           {{ip6(1, 0), 64}, Route::Kind::connected, {{Ip6(), 3}}}});
  ASSERT_EQ(table.rows().size(), 1u);
  EXPECT_TRUE(table.rows()[0].connected);
  EXPECT_EQ(table.size(), 1u);
}

TEST(Prefix6, ContainsWhatHasItsBits) {
  EXPECT_EQ(network_of(ip6(1, 5), 128), ip6(1, 5));
  EXPECT_EQ(network_of(ip6(1, 5), 127), ip6(1, 4));
  EXPECT_EQ(network_of(ip6(1, 5), 65), ip6(1, 0));
  EXPECT_EQ(network_of(ip6(1, 5), 64), ip6(1, 0));
  EXPECT_EQ(network_of(ip6(1, 5), 32), Ip6::of_halves(0x20010db800000000, 0));
  EXPECT_EQ(network_of(ip6(1, 5), 1), Ip6());
  EXPECT_EQ(network_of(ip6(1, 5), 0), Ip6());
  EXPECT_TRUE(contains(Prefix6{ip6(1, 4), 127}, ip6(1, 5)));
  EXPECT_FALSE(contains(Prefix6{ip6(1, 4), 127}, ip6(1, 6)));
}

TEST(RouteTable6, NextHopsThatAilLeaveTheirGroupsAndReturn) {
  const NextHop6 a{ip6(1, 9), 1};
  const NextHop6 b{ip6(2, 9), 2};
  RouteTable6 table(
      {{{Ip6(), 0}, Route::Kind::gateway, {a, b}}, {{ip6(7, 0), 64}, Route::Kind::gateway, {a}}});
  const auto* all = table.find(ip6(9, 9));
  table.set_unhealthy({{a.via, Ailment::dead}});
  ASSERT_EQ(all->live.size(), 1u);
  EXPECT_EQ(all->live[0].via, b.via);
  EXPECT_TRUE(table.find(ip6(7, 1))->live.empty());
  EXPECT_TRUE(table.cut_off());
  EXPECT_FALSE(table.rows()[0].next_hops[0].up);
  EXPECT_TRUE(table.rows()[0].next_hops[1].up);
  table.set_unhealthy({{a.via, Ailment::cut_off}});
  EXPECT_EQ(all->live.size(), 1u);
  EXPECT_EQ(table.find(ip6(7, 1))->live.size(), 1u) << "there is no better one";
  EXPECT_FALSE(table.cut_off());
  table.set_interface_up(2, false);
  ASSERT_EQ(all->live.size(), 1u);
  EXPECT_EQ(all->live[0].via, a.via);
  table.set_interface_up(2, true);
  table.set_unhealthy({{a.via, Ailment::crowded}});
  EXPECT_EQ(all->live.size(), 2u);
}

}  // namespace
}  // namespace tributary::forwarding
