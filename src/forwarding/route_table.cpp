// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/route_table.h"

#include <algorithm>
#include <utility>

namespace tributary::forwarding {
namespace {

std::uint32_t first_of(const Prefix& prefix) {
  return prefix.network.value() & prefix_mask(prefix.length);
}

// Outer prefixes before those inside them; equal ones next to each other, in the given order.
bool before(const Route& a, const Route& b) {
  return std::pair(first_of(a.prefix), a.prefix.length) <
         std::pair(first_of(b.prefix), b.prefix.length);
}
bool same_prefix(const Route& a, const Route& b) {
  return first_of(a.prefix) == first_of(b.prefix) && a.prefix.length == b.prefix.length;
}

}  // namespace

RouteTable::RouteTable(std::vector<Route> routes) {
  std::stable_sort(routes.begin(), routes.end(), before);
  routes.erase(std::unique(routes.begin(), routes.end(), same_prefix), routes.end());
  groups_.reserve(routes.size());
  for (auto& route : routes) {
    auto live = route.next_hops;
    groups_.push_back({std::move(route), std::move(live)});
  }
  flatten();
}

std::uint64_t RouteTable::last_of(std::uint32_t group) const {
  const auto& prefix = groups_[group].route.prefix;
  return first_of(prefix) | ~prefix_mask(prefix.length);
}

void RouteTable::start_range(std::uint64_t first, std::uint32_t group) {
  if (first > 0xffffffff) {
    return;
  }
  if (!firsts_.empty() && firsts_.back() == first) {
    range_groups_.back() = group;
    return;
  }
  firsts_.push_back(static_cast<std::uint32_t>(first));
  range_groups_.push_back(group);
}

// Sweeps over the sorted prefixes with a stack of those that enclose the current address.
void RouteTable::flatten() {
  std::vector<std::uint32_t> enclosing;
  const auto leave = [&] {
    const auto next = last_of(enclosing.back()) + 1;
    enclosing.pop_back();
    start_range(next, enclosing.empty() ? no_group : enclosing.back());
  };
  start_range(0, no_group);
  for (std::uint32_t group = 0; group < groups_.size(); ++group) {
    const auto first = first_of(groups_[group].route.prefix);
    while (!enclosing.empty() && last_of(enclosing.back()) < first) {
      leave();
    }
    start_range(first, group);
    enclosing.push_back(group);
  }
  while (!enclosing.empty()) {
    leave();
  }
}

const RouteTable::Group* RouteTable::find(const wire::Ipv4Address& destination) const {
  const auto after = std::upper_bound(firsts_.begin(), firsts_.end(), destination.value());
  const auto group = range_groups_[static_cast<std::size_t>(after - firsts_.begin()) - 1];
  return group == no_group ? nullptr : &groups_[group];
}

bool RouteTable::is_up(PortIndex interface) const {
  return std::find(down_.begin(), down_.end(), interface) == down_.end();
}

void RouteTable::set_interface_up(PortIndex interface, bool up) {
  std::erase(down_, interface);
  if (!up) {
    down_.push_back(interface);
  }
  for (auto& group : groups_) {
    group.live.clear();
    std::copy_if(group.route.next_hops.begin(), group.route.next_hops.end(),
                 std::back_inserter(group.live),
                 [this](const NextHop& hop) { return is_up(hop.interface); });
  }
}

std::vector<RouteRow> RouteTable::rows() const {
  std::vector<RouteRow> rows;
  for (const auto& [route, live] : groups_) {
    if (route.kind != Route::Kind::connected && route.kind != Route::Kind::gateway) {
      continue;
    }
    RouteRow row{route.prefix, route.kind == Route::Kind::connected, {}};
    for (const auto& hop : route.next_hops) {
      row.next_hops.push_back({hop.via, hop.interface, is_up(hop.interface)});
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace tributary::forwarding
