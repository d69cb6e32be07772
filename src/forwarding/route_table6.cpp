// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/route_table6.h"

#include <algorithm>
#include <optional>

#include "forwarding/flatten.h"

namespace tributary::forwarding {
namespace {

using wire::IpAddress;

IpAddress last_address(const Prefix6& prefix) {
  const auto mask =
      network_of(IpAddress::of_halves(~std::uint64_t{0}, ~std::uint64_t{0}), prefix.length);
  return IpAddress::of_halves(prefix.network.high() | ~mask.high(),
                              prefix.network.low() | ~mask.low());
}

std::optional<IpAddress> address_behind(const IpAddress& address) {
  const auto low = address.low() + 1;
  const auto high = address.high() + (low == 0 ? 1 : 0);
  return low == 0 && high == 0 ? std::nullopt : std::optional(IpAddress::of_halves(high, low));
}

bool precedes6(const Route6& a, const Route6& b) {
  return a.prefix < b.prefix;
}

bool is_shown(const Route6& route) {
  return route.kind == Route::Kind::connected || route.kind == Route::Kind::gateway;
}

}  // namespace

RouteTable6::RouteTable6(std::vector<Route6> routes, std::uint64_t tree_seed) {
  std::stable_sort(routes.begin(), routes.end(), precedes6);
  routes.erase(std::unique(routes.begin(), routes.end(),
                           [](const Route6& a, const Route6& b) { return a.prefix == b.prefix; }),
               routes.end());
  std::vector<Block<IpAddress>> blocks;
  for (auto& route : routes) {
    row_count_ += is_shown(route) ? 1 : 0;
    groups_.emplace_back(std::move(route), tree_seed);
    const auto& prefix = groups_.back().route.prefix;
    blocks.push_back(
        {prefix.network, last_address(prefix), static_cast<std::uint32_t>(groups_.size())});
  }
  ranges_ = flatten(blocks, address_behind);
  refresh();
}

const NextHopGroup6* RouteTable6::find(const IpAddress& destination) const {
  const auto behind = std::upper_bound(
      ranges_.begin(), ranges_.end(), destination,
      [](const IpAddress& address, const auto& range) { return address < range.first; });
  const auto number = std::prev(behind)->second;
  return number == 0 ? nullptr : &groups_[number - 1];
}

void RouteTable6::set_interface_up(PortIndex interface, bool up) {
  health_.set_interface_up(interface, up);
  refresh();
}

void RouteTable6::set_unhealthy(const std::vector<UnhealthyNeighbour>& neighbours) {
  health_.set_unhealthy(neighbours);
  refresh();
}

bool RouteTable6::cut_off() const {
  return std::any_of(groups_.begin(), groups_.end(), [](const NextHopGroup6& group) {
    return group.route.kind == Route::Kind::gateway && group.live.empty();
  });
}

void RouteTable6::refresh() {
  for (auto& group : groups_) {
    group.refresh(health_);
  }
}

void RouteTable6::continue_counters(const RouteTable6& before) {
  forwarding::continue_counters(groups_, before.groups_, precedes6);
}

std::vector<RouteRow6> RouteTable6::rows() const {
  std::vector<RouteRow6> rows;
  for (const auto& group : groups_) {
    if (is_shown(group.route)) {
      rows.push_back(group.row<RouteRow6>());
    }
  }
  return rows;
}

}  // namespace tributary::forwarding
