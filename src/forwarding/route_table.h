// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "forwarding/config.h"
#include "forwarding/rows.h"
#include "packet/packet.h"
#include "wire/ipv4.h"

namespace tributary::forwarding {

constexpr std::uint32_t prefix_mask(std::uint8_t length) {
  return length == 0 ? 0 : ~std::uint32_t{0} << (32 - length);
}
constexpr bool contains(const Prefix& prefix, const wire::Ipv4Address& address) {
  return ((prefix.network.value() ^ address.value()) & prefix_mask(prefix.length)) == 0;
}
constexpr Prefix prefix_of(const InterfaceAddress& address) {
  return {wire::Ipv4Address(address.address.value() & prefix_mask(address.length)), address.length};
}

struct NextHop {
  wire::Ipv4Address via;  // unspecified: the destination itself, on a connected prefix
  PortIndex interface = no_port;
};

struct Route {
  enum class Kind : std::uint8_t {
    local,      // an address of the switch
    broadcast,  // of a connected prefix, or its network address
    connected,  // one next hop without `via`
    gateway,    // a group of next hops
  };
  Prefix prefix;
  Kind kind = Kind::gateway;
  std::vector<NextHop> next_hops;
};

// Longest-prefix match. The prefixes are flattened into ranges that do not overlap, so that a
// lookup is one binary search in an array of the ranges' first addresses; the table is built when
// the configuration changes, never by packets. Among equal prefixes the first wins.
class RouteTable {
 public:
  struct Group {
    Route route;
    std::vector<NextHop> live;  // next hops whose interface is up, in their order
  };

  RouteTable() : RouteTable(std::vector<Route>{}) {}
  explicit RouteTable(std::vector<Route> routes);

  // Null: no prefix matches.
  const Group* find(const wire::Ipv4Address& destination) const;

  // Takes the next hops behind an interface out of their groups, or puts them back.
  void set_interface_up(PortIndex interface, bool up);

  const std::vector<Group>& groups() const { return groups_; }
  std::vector<RouteRow> rows() const;  // connected and gateway routes

 private:
  static constexpr std::uint32_t no_group = 0xffffffff;

  void flatten();
  void start_range(std::uint64_t first, std::uint32_t group);
  std::uint64_t last_of(std::uint32_t group) const;
  bool is_up(PortIndex interface) const;

  std::vector<Group> groups_;
  std::vector<std::uint32_t> firsts_;        // sorted; firsts_[0] == 0
  std::vector<std::uint32_t> range_groups_;  // of the range that starts at firsts_[i]
  std::vector<PortIndex> down_;
};

}  // namespace tributary::forwarding
