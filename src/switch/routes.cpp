// SPDX-License-Identifier: BSD-3-Clause
#include "switch/routes.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "wire/key.h"

namespace tributary::switching {
namespace {

using forwarding::NextHop;
using forwarding::NextHop6;
using forwarding::Route;
using forwarding::Route6;

Route host_route(const wire::Ipv4Address& address, Route::Kind kind) {
  return {{address, 32}, kind, {}, {}};
}

void add_interface(std::vector<Route>& routes, const forwarding::InterfaceAddress& own,
                   PortIndex interface) {
  const auto prefix = forwarding::prefix_of(own);
  routes.push_back(host_route(own.address, Route::Kind::local));
  routes.push_back({prefix, Route::Kind::connected, {{wire::Ipv4Address{}, interface}}, {}});
  if (own.length < 31) {  // RFC 3021: a /31 has neither
    const wire::Ipv4Address last(prefix.network.value() | ~forwarding::prefix_mask(own.length));
    routes.push_back(host_route(prefix.network, Route::Kind::broadcast));
    routes.push_back(host_route(last, Route::Kind::broadcast));
  }
}

// Each gateway is listed once, however many routes name it.
template <typename Hop, typename Routes>
std::vector<Hop> gateways_among(const Routes& routes) {
  std::vector<Hop> gateways;
  for (const auto& route : routes) {
    if (route.kind != Route::Kind::gateway) {
      continue;
    }
    for (const auto& hop : route.next_hops) {
      const auto same = [&](const Hop& known) { return known.via == hop.via; };
      if (std::none_of(gateways.begin(), gateways.end(), same)) {
        gateways.push_back(hop);
      }
    }
  }
  return gateways;
}

// Returns how one of several next hops of a static route is chosen.
template <typename RouteConfigOf>
forwarding::Policies policies_of(const RouteConfigOf& route, const SwitchConfig& config) {
  const auto& usual = config.selection.policies;
  return {route.ordinary.value_or(usual.ordinary), route.reduction.value_or(usual.reduction)};
}

}  // namespace

std::vector<Route> routes_of(const SwitchConfig& config, const Interfaces& interfaces) {
  std::vector<Route> routes;
  if (!config.address.is_unspecified()) {
    routes.push_back(host_route(config.address, Route::Kind::local));
  }
  for (PortIndex port = 0; port < interfaces.count(); ++port) {
    if (const auto& own = interfaces.address(port)) {
      add_interface(routes, *own, port);
    }
  }
  for (const auto& one : interfaces.on_bridge()) {
    if (one.address) {
      add_interface(routes, *one.address, one.interface);
    }
  }
  for (const auto& route : config.routes) {
    Route group{route.prefix, Route::Kind::gateway, {}, policies_of(route, config)};
    for (const auto& via : route.via) {
      if (const auto interface = interfaces.connected_to(via); interface != no_port) {
        group.next_hops.push_back({via, interface});
      }
    }
    routes.push_back(std::move(group));
  }
  return routes;
}

std::vector<PortIndex> only_ways_of(const std::vector<Route>& routes,
                                    const std::vector<Route6>& routes6) {
  std::set<PortIndex> only;
  std::set<PortIndex> others;
  const auto note = [&](const auto& all) {
    for (const auto& route : all) {
      for (const auto& hop : route.next_hops) {
        (route.next_hops.size() == 1 ? only : others).insert(hop.interface);
      }
    }
  };
  note(routes);
  note(routes6);
  std::vector<PortIndex> ways;
  std::set_difference(only.begin(), only.end(), others.begin(), others.end(),
                      std::back_inserter(ways));
  return ways;
}

std::vector<NextHop> gateways_of(const std::vector<Route>& routes) {
  return gateways_among<NextHop>(routes);
}

std::vector<NextHop6> gateways6_of(const std::vector<Route6>& routes) {
  return gateways_among<NextHop6>(routes);
}

std::vector<Route6> routes6_of(const SwitchConfig& config, const Interfaces& interfaces) {
  std::vector<Route6> routes;
  if (const auto& self = interfaces.switch_address6()) {
    routes.push_back({{*self, 128}, Route::Kind::local, {}, {}});
  }
  const auto add_interface6 = [&](PortIndex interface) {
    if (const auto& own = interfaces.address6(interface)) {
      routes.push_back({{own->address, 128}, Route::Kind::local, {}, {}});
      routes.push_back(
          {prefix_of(*own), Route::Kind::connected, {{wire::IpAddress{}, interface}}, {}});
    }
  };
  for (PortIndex port = 0; port < interfaces.count(); ++port) {
    add_interface6(port);
  }
  for (const auto& one : interfaces.on_bridge()) {
    add_interface6(one.interface);
  }
  for (const auto& route : config.routes6) {
    Route6 group{route.prefix, Route::Kind::gateway, {}, policies_of(route, config)};
    for (const auto& via : route.via) {
      if (const auto interface = interfaces.connected_to(via); interface != no_port) {
        group.next_hops.push_back({via, interface});
      }
    }
    routes.push_back(std::move(group));
  }
  return routes;
}

std::uint64_t ecmp_seed_of(const SwitchConfig& config) {
  return config.ecmp_seed != 0 ? config.ecmp_seed : wire::mix_key(config.id, 0x7472696275746172);
}

}  // namespace tributary::switching
