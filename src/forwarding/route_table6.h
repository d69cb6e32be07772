// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "forwarding/config.h"
#include "forwarding/hop_group.h"
#include "forwarding/route_table.h"
#include "forwarding/rows.h"
#include "packet/packet.h"
#include "wire/ip_address.h"

namespace tributary::forwarding {

struct Route6 {
  Prefix6 prefix;
  Route::Kind kind = Route::Kind::gateway;  // never broadcast
  std::vector<NextHop6> next_hops;
  Policies policies;  // as Route::policies
};

using NextHopGroup6 = NextHopGroupBy<Route6>;

// The table finds the longest IPv6 prefix that matches. It has the prefixes as ranges that do not
// overlap (forwarding/flatten.h), and searches them by halves. It is built when the configuration
// changes, never by packets. Among equal prefixes the first wins.
class RouteTable6 {
 public:
  RouteTable6() : RouteTable6(std::vector<Route6>{}) {}
  explicit RouteTable6(std::vector<Route6> routes, std::uint64_t tree_seed = 1);

  // Returns null if no prefix matches.
  const NextHopGroup6* find(const wire::IpAddress& destination) const;
  NextHopGroup6* find(const wire::IpAddress& destination) {
    return const_cast<NextHopGroup6*>(std::as_const(*this).find(destination));
  }

  // Takes the next hops behind an interface out of their groups, or puts them back.
  void set_interface_up(PortIndex interface, bool up);
  // Neighbours leave their groups as in RouteTable.
  void set_unhealthy(const std::vector<UnhealthyNeighbour>& neighbours);
  // Says whether a gateway route has no next hop that can be chosen.
  bool cut_off() const;

  // Counts on where `before`, the table that this one replaces, ends.
  void continue_counters(const RouteTable6& before);

  const std::vector<NextHopGroup6>& groups() const { return groups_; }
  std::vector<NextHopGroup6>& groups() { return groups_; }
  std::vector<RouteRow6> rows() const;             // connected and gateway routes
  std::size_t size() const { return row_count_; }  // of rows()

 private:
  void refresh();

  std::size_t row_count_ = 0;
  std::vector<NextHopGroup6> groups_;                              // in the order of their prefixes
  std::vector<std::pair<wire::IpAddress, std::uint32_t>> ranges_;  // 0, or a group counted from 1
  NextHopHealth health_;
};

}  // namespace tributary::forwarding
