// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "forwarding/config.h"
#include "forwarding/next_hop_health.h"
#include "forwarding/root_shares.h"
#include "forwarding/rows.h"
#include "packet/packet.h"

namespace tributary::forwarding {

enum class RouteKind : std::uint8_t {
  local,      // an address of the switch
  broadcast,  // of a connected prefix, or its network address
  connected,  // one next hop without `via`
  gateway,    // a group of next hops
};

// A HopGroup is what policies know of the next hops of a route, by their places in it, and what
// they count. It is the same for both versions of IP.
struct HopGroup {
  Policies policies;
  std::vector<PortIndex> interfaces;
  std::vector<bool> up;       // whether each can be chosen
  std::vector<bool> crowded;  // whether a queue behind each is filling up
  // The roots of static trees are a permutation of the hops that depends on the seed and their
  // number only.
  std::vector<std::uint16_t> tree_order;
  SelectionCounters counters;
  RootShares shares;  // adaptive: of the blocks
};

// Returns the order of so many hops that the seed draws. All switches of a fabric draw the same.
std::vector<std::uint16_t> draw_order(std::size_t count, std::uint64_t seed);

// A NextHopGroupBy is a route in use, with those of its next hops that can be chosen.
template <typename RouteOf>
struct NextHopGroupBy : HopGroup {
  RouteOf route;
  decltype(RouteOf::next_hops) live;  // in their order

  NextHopGroupBy(RouteOf of, std::uint64_t tree_seed) : route(std::move(of)) {
    const auto hops = route.next_hops.size();
    policies = route.policies;
    for (const auto& hop : route.next_hops) {
      interfaces.push_back(hop.interface);
    }
    tree_order = draw_order(hops, tree_seed);
    shares = RootShares(hops > 1 ? hops : 0);
  }

  void refresh(const NextHopHealth& health) {
    const auto& hops = route.next_hops;
    health.find_usable(hops, up);
    live.clear();
    crowded.clear();
    for (std::size_t i = 0; i < hops.size(); ++i) {
      crowded.push_back(health.is_crowded(hops[i].via));
      if (up[i]) {
        live.push_back(hops[i]);
      }
    }
  }
  template <typename Row>
  Row row() const {
    Row row{route.prefix, route.kind == RouteKind::connected, {}, policies, counters};
    for (std::size_t i = 0; i < route.next_hops.size(); ++i) {
      const auto& hop = route.next_hops[i];
      const auto share = static_cast<double>(shares.share(i)) / RootShares::all;
      row.next_hops.push_back({hop.via, hop.interface, up[i], share});
    }
    return row;
  }
};

// Counts on where `before`, which `groups` replace, end. Both are in the order that `precedes`
// tells of two routes.
template <typename Group, typename Precedes>
void continue_counters(std::vector<Group>& groups, const std::vector<Group>& before,
                       Precedes precedes) {
  auto old = before.begin();
  for (auto& group : groups) {
    old = std::find_if(old, before.end(), [&](const Group& candidate) {
      return !precedes(candidate.route, group.route);
    });
    if (old != before.end() && !precedes(group.route, old->route)) {
      group.counters = old->counters;
    }
  }
}

}  // namespace tributary::forwarding
