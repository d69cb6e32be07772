// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "forwarding/config.h"
#include "forwarding/hop_group.h"
#include "forwarding/next_hop_health.h"
#include "forwarding/range_index.h"
#include "forwarding/rows.h"
#include "packet/packet.h"
#include "wire/ipv4.h"

namespace tributary::forwarding {

template <typename Address>
struct NextHopBy {
  Address via;  // unspecified: the destination itself, on a connected prefix
  PortIndex interface = no_port;
};
using NextHop = NextHopBy<wire::Ipv4Address>;
using NextHop6 = NextHopBy<wire::IpAddress>;

struct Route {
  using Kind = RouteKind;
  Prefix prefix;
  Kind kind = Kind::gateway;
  std::vector<NextHop> next_hops;
  Policies policies;  // they choose one of several next hops
};

using NextHopGroup = NextHopGroupBy<Route>;

// A lookup comes to a Way, in a quarter of a cache line. Routes with the same only next hop share
// one, so that there are few of them, however many routes there are.
struct Way {
  static constexpr std::uint32_t no_group = 0xffffffff;

  std::uint32_t group = no_group;  // one of those that share it; no_group: no prefix matches
  NextHop hop;                     // the only one that can be chosen, if `live` is 1
  std::uint16_t live = 0;          // next hops that can be chosen
  bool leads_on = false;           // neither an address of the switch nor a broadcast
};

// The table finds the longest prefix that matches. The prefixes are flattened into ranges that do
// not overlap, and those are indexed; the table is built when the configuration changes, never by
// packets. Among equal prefixes the first wins.
class RouteTable {
 public:
  RouteTable() : RouteTable(std::vector<Route>{}) {}
  explicit RouteTable(std::vector<Route> routes, std::uint64_t tree_seed = 1);

  const Way& way_to(const wire::Ipv4Address& destination) const {
    return ways_[index_.find(destination.value())];
  }
  // Returns the group of a way, or null if no prefix matches.
  NextHopGroup* group_of(const Way& way) {
    return way.group == Way::no_group ? nullptr : &groups_[way.group];
  }
  const NextHopGroup* find(const wire::Ipv4Address& destination) const {
    const auto& way = way_to(destination);
    return way.group == Way::no_group ? nullptr : &groups_[way.group];
  }
  NextHopGroup* find(const wire::Ipv4Address& destination) {
    return const_cast<NextHopGroup*>(std::as_const(*this).find(destination));
  }

  // Takes the next hops behind an interface out of their groups, or puts them back.
  void set_interface_up(PortIndex interface, bool up);
  // Takes these neighbours out of their groups from now on: the dead ones in any case, those that
  // are cut off where a group has better ones. Crowded ones stay in.
  void set_unhealthy(const std::vector<UnhealthyNeighbour>& neighbours);
  // Says whether a gateway route has no next hop that can be chosen.
  bool cut_off() const;

  // Counts on where `before`, the table that this one replaces, ends.
  void continue_counters(const RouteTable& before);

  const std::vector<NextHopGroup>& groups() const { return groups_; }
  std::vector<NextHopGroup>& groups() { return groups_; }
  std::vector<RouteRow> rows() const;              // connected and gateway routes
  std::size_t size() const { return row_count_; }  // of rows()

 private:
  void share_ways();
  std::vector<RangeIndex::Range> flat() const;
  void refresh();

  std::size_t row_count_ = 0;
  std::vector<NextHopGroup> groups_;       // in the order of their prefixes
  std::vector<std::uint32_t> group_ways_;  // index into ways_
  std::vector<Way> ways_;                  // the first one means that no prefix matches
  RangeIndex index_;                       // from addresses to ways_
  NextHopHealth health_;
};

}  // namespace tributary::forwarding
