// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "forwarding/config.h"
#include "forwarding/flowlet_table.h"
#include "forwarding/hop_group.h"
#include "forwarding/occupancy.h"
#include "packet/clock.h"

namespace tributary::forwarding {

// Packets are told apart by their flow.
struct Flow {
  std::uint32_t hash = 0;  // made of what PolicyRow::spread says; in reductions of block and leader
  std::uint32_t block = 0;  // sequence number of a reduction's block; 0 for ordinary packets
  // The packets of a reduction meet at the next hop, and its results go to all who take part. So
  // any queue behind the next hop is in their way, while only one is in the way of ordinary
  // packets.
  bool reduction = false;
  std::size_t traffic_class = 0;  // in whose queues the packet will wait
};

// A choice is made among the next hops of a group, at least one of which is up.
struct Choosing {
  HopGroup& group;
  Flow flow;
  Time now;
  const SelectionConfig& config;
  const Occupancy& queues;
  FlowletTable& flowlets;
};

// Returns the place of a next hop in the group; it is up. No policy allocates or keeps a
// reference.
using Choose = std::size_t (*)(const Choosing&);

std::size_t choose_ecmp(const Choosing& choosing);
std::size_t choose_flowlet(const Choosing& choosing);
std::size_t choose_adaptive(const Choosing& choosing);
std::size_t choose_static_tree(const Choosing& choosing);

struct PolicyRow {
  enum class Spread : std::uint8_t { five_tuple, destination };
  Choose choose;
  Spread spread;  // Flow::hash of an ordinary packet is made of it
};

// The rows are in the order of Policy. A new policy is an enumerator and its name
// (forwarding/config.h), a function in a file of its own, and a row here.
inline constexpr std::array policies{
    PolicyRow{choose_ecmp, PolicyRow::Spread::five_tuple},
    PolicyRow{choose_flowlet, PolicyRow::Spread::five_tuple},
    PolicyRow{choose_adaptive, PolicyRow::Spread::destination},
    PolicyRow{choose_static_tree, PolicyRow::Spread::destination},
};
static_assert(policies.size() == policy_names.size());
constexpr const PolicyRow& row_of(Policy policy) {
  return policies[static_cast<std::size_t>(policy)];
}

// Returns the hop that the hash names, for policies; if it is down, another one by the same hash,
// so that the traffic of the others stays where it is.
std::size_t default_hop(const HopGroup& group, std::uint32_t hash);
// Does the same for a block: if that hop does not keep it (RootShares), returns the hop of another
// hash of it.
std::size_t default_root(const HopGroup& group, std::uint32_t hash);
// Returns the hop that a block took whose result came by this port: the default root, unless that
// is behind another port and some hop is behind this one.
std::size_t root_behind(const HopGroup& group, std::uint32_t hash, PortIndex port);
// Returns how full the queue to a hop is, and whether one behind it is filling up.
Filling filling_of(const Choosing& choosing, std::size_t hop);
// Returns the live hop with the emptiest queue (Filling): `preferred` if no other is emptier, among
// others the first after it in the order of the group.
std::size_t least_filled(const Choosing& choosing, std::size_t preferred);

}  // namespace tributary::forwarding
