// SPDX-License-Identifier: BSD-3-Clause
#include "switch/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/switch_bench.h"

namespace tributary::switching {
namespace {

using forwarding::NextHop;
using forwarding::Policy;
using forwarding::Prefix;
using forwarding::Route;
using test::Ip;
using testing::ElementsAre;
using testing::IsEmpty;

using Network = std::pair<wire::Ipv4Address, int>;

RouteConfig by(const Prefix& prefix, std::vector<wire::Ipv4Address> via) {
  RouteConfig route;
  route.prefix = prefix;
  route.via = std::move(via);
  return route;
}

class RoutesOfASwitch : public testing::Test {
 protected:
  RoutesOfASwitch() {
    config_.id = 1;
    config_.ports = {test::routed_port("a", 0, Ip(10, 0, 0, 1)),
                     test::routed_port("b", 1, Ip(10, 0, 1, 1)),
                     test::routed_port("c", 2, Ip(10, 0, 2, 0), 31)};
  }
  std::vector<Route> routes() const { return routes_of(config_, Interfaces(config_)); }
  // The prefixes of one kind of route.
  std::vector<Network> prefixes(Route::Kind kind) const {
    std::vector<Network> found;
    for (const auto& route : routes()) {
      if (route.kind == kind) {
        found.emplace_back(route.prefix.network, route.prefix.length);
      }
    }
    return found;
  }

  SwitchConfig config_;
};

TEST_F(RoutesOfASwitch, LeadToItsAddressesAndTheirPrefixes) {
  EXPECT_THAT(prefixes(Route::Kind::local),
              ElementsAre(Network(Ip(10, 0, 0, 1), 32), Network(Ip(10, 0, 1, 1), 32),
                          Network(Ip(10, 0, 2, 0), 32)));
  EXPECT_THAT(prefixes(Route::Kind::connected),
              ElementsAre(Network(Ip(10, 0, 0, 0), 24), Network(Ip(10, 0, 1, 0), 24),
                          Network(Ip(10, 0, 2, 0), 31)));
  EXPECT_THAT(prefixes(Route::Kind::broadcast),
              ElementsAre(Network(Ip(10, 0, 0, 0), 32), Network(Ip(10, 0, 0, 255), 32),
                          Network(Ip(10, 0, 1, 0), 32), Network(Ip(10, 0, 1, 255), 32)))
      << "a /31 has none";
  config_.address = Ip(10, 9, 9, 9);
  EXPECT_THAT(prefixes(Route::Kind::local),
              ElementsAre(Network(Ip(10, 9, 9, 9), 32), Network(Ip(10, 0, 0, 1), 32),
                          Network(Ip(10, 0, 1, 1), 32), Network(Ip(10, 0, 2, 0), 32)));
}

TEST_F(RoutesOfASwitch, LeadByNeighboursOnConnectedPrefixes) {
  config_.routes = {
      by({Ip(10, 8, 0, 0), 16}, {Ip(10, 0, 1, 9), Ip(172, 16, 0, 1), Ip(10, 0, 2, 1)})};
  const auto route = routes().back();
  EXPECT_EQ(route.kind, Route::Kind::gateway);
  ASSERT_EQ(route.next_hops.size(), 2u);
  EXPECT_EQ(route.next_hops[0].via, Ip(10, 0, 1, 9));
  EXPECT_EQ(route.next_hops[0].interface, 1);
  EXPECT_EQ(route.next_hops[1].interface, 2);
}

TEST_F(RoutesOfASwitch, ChooseAsTheSwitchDoesUnlessTheySayOtherwise) {
  config_.selection.policies = {Policy::flowlet, Policy::adaptive};
  config_.routes = {by({Ip(10, 8, 0, 0), 16}, {Ip(10, 0, 1, 9)})};
  EXPECT_EQ(routes().back().policies.ordinary, Policy::flowlet);
  EXPECT_EQ(routes().back().policies.reduction, Policy::adaptive);
  config_.routes[0].ordinary = Policy::ecmp;
  config_.routes[0].reduction = Policy::static_trees;
  EXPECT_EQ(routes().back().policies.ordinary, Policy::ecmp);
  EXPECT_EQ(routes().back().policies.reduction, Policy::static_trees);
}

TEST_F(RoutesOfASwitch, NameEachGatewayOnce) {
  EXPECT_THAT(gateways_of(routes()), IsEmpty());
  config_.routes = {by({Ip(10, 8, 0, 0), 16}, {Ip(10, 0, 1, 9), Ip(10, 0, 0, 9)}),
                    by({Ip(10, 7, 0, 0), 16}, {Ip(10, 0, 0, 9)})};
  const auto gateways = gateways_of(routes());
  ASSERT_EQ(gateways.size(), 2u);
  EXPECT_EQ(gateways[0].via, Ip(10, 0, 1, 9));
  EXPECT_EQ(gateways[1].via, Ip(10, 0, 0, 9));
}

TEST(OnlyWays, AreInterfacesThatNoRouteHasBesideOthers) {
  const auto route = [](std::vector<NextHop> hops) {
    return Route{{}, Route::Kind::gateway, std::move(hops), {}};
  };
  EXPECT_THAT(only_ways_of({route({{Ip{}, 2}}), route({{Ip{}, 1}}), route({{Ip{}, 1}})}, {}),
              ElementsAre(1, 2));
  EXPECT_THAT(only_ways_of({route({{Ip{}, 2}}), route({{Ip{}, 2}, {Ip{}, 3}})}, {}), IsEmpty());
  const forwarding::Route6 connected{{}, Route::Kind::connected, {{{}, 2}}, {}};
  EXPECT_THAT(only_ways_of({}, {connected}), ElementsAre(2));
  EXPECT_THAT(only_ways_of({route({{Ip{}, 2}, {Ip{}, 3}})}, {connected}), IsEmpty())
      << "one of several over the other version";
}

TEST_F(RoutesOfASwitch, HashFlowsInAWayOfTheirOwn) {
  const auto seed = ecmp_seed_of(config_);
  config_.id = 2;
  EXPECT_NE(ecmp_seed_of(config_), seed)
      << "or all flows of one of its ways have one way behind it";
  config_.ecmp_seed = 77;
  EXPECT_EQ(ecmp_seed_of(config_), 77u);
}

}  // namespace
}  // namespace tributary::switching
