// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/route_table.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "forwarding/flatten.h"

namespace tributary::forwarding {
namespace {

std::uint32_t first_of(const Prefix& prefix) {
  return prefix.network.value() & prefix_mask(prefix.length);
}

// Outer prefixes come before those inside them, and equal ones next to each other, in the given
// order.
bool precedes(const Route& a, const Route& b) {
  return std::pair(first_of(a.prefix), a.prefix.length) <
         std::pair(first_of(b.prefix), b.prefix.length);
}
bool same_prefix(const Route& a, const Route& b) {
  return first_of(a.prefix) == first_of(b.prefix) && a.prefix.length == b.prefix.length;
}

bool is_listed(const Route& route) {
  return route.kind == Route::Kind::connected || route.kind == Route::Kind::gateway;
}

}  // namespace

RouteTable::RouteTable(std::vector<Route> routes, std::uint64_t tree_seed) {
  std::stable_sort(routes.begin(), routes.end(), precedes);
  routes.erase(std::unique(routes.begin(), routes.end(), same_prefix), routes.end());
  groups_.reserve(routes.size());
  for (auto& route : routes) {
    row_count_ += is_listed(route) ? 1 : 0;
    groups_.emplace_back(std::move(route), tree_seed);
  }
  share_ways();
  index_ = RangeIndex(flat());
  refresh();
}

// A choice among several next hops is counted by route, so such routes have a way of their own.
void RouteTable::share_ways() {
  std::map<std::tuple<Route::Kind, wire::Ipv4Address, PortIndex>, std::uint32_t> shared;
  ways_.assign(1, Way{});
  for (std::uint32_t group = 0; group < groups_.size(); ++group) {
    const auto& route = groups_[group].route;
    auto number = static_cast<std::uint32_t>(ways_.size());
    if (route.next_hops.size() <= 1) {
      const auto hop = route.next_hops.empty() ? NextHop{} : route.next_hops.front();
      number = shared.try_emplace({route.kind, hop.via, hop.interface}, number).first->second;
    }
    if (number == ways_.size()) {
      ways_.push_back({.group = group, .leads_on = is_listed(route)});
    }
    group_ways_.push_back(number);
  }
}

std::vector<RangeIndex::Range> RouteTable::flat() const {
  std::vector<Block<std::uint32_t>> blocks;
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    const auto& prefix = groups_[group].route.prefix;
    const auto first = first_of(prefix);
    blocks.push_back({first, first | ~prefix_mask(prefix.length), group_ways_[group]});
  }
  const auto next = [](std::uint32_t last) {
    return last == UINT32_MAX ? std::nullopt : std::optional(last + 1);
  };
  std::vector<RangeIndex::Range> ranges;
  for (const auto& [first, way] : flatten(blocks, next)) {
    ranges.push_back({first, way});
  }
  return ranges;
}

void RouteTable::set_interface_up(PortIndex interface, bool up) {
  health_.set_interface_up(interface, up);
  refresh();
}

void RouteTable::set_unhealthy(const std::vector<UnhealthyNeighbour>& neighbours) {
  health_.set_unhealthy(neighbours);
  refresh();
}

bool RouteTable::cut_off() const {
  return std::any_of(groups_.begin(), groups_.end(), [](const NextHopGroup& group) {
    return group.route.kind == Route::Kind::gateway && group.live.empty();
  });
}

void RouteTable::refresh() {
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    auto& group = groups_[i];
    group.refresh(health_);
    auto& way = ways_[group_ways_[i]];
    way.live = static_cast<std::uint16_t>(group.live.size());
    way.hop = group.live.empty() ? NextHop{} : group.live.front();
  }
}

void RouteTable::continue_counters(const RouteTable& before) {
  forwarding::continue_counters(groups_, before.groups_, precedes);
}

std::vector<RouteRow> RouteTable::rows() const {
  std::vector<RouteRow> rows;
  for (const auto& group : groups_) {
    if (is_listed(group.route)) {
      rows.push_back(group.row<RouteRow>());
    }
  }
  return rows;
}

}  // namespace tributary::forwarding
