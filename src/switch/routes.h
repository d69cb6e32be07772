// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "forwarding/route_table.h"
#include "forwarding/route_table6.h"
#include "switch/config.h"
#include "switch/interfaces.h"

namespace tributary::switching {

// Returns all routes of a logical switch: its own addresses, the broadcast addresses of its
// prefixes, the connected prefixes, the static routes. A `via` that is on no connected prefix is
// left out.
std::vector<forwarding::Route> routes_of(const SwitchConfig& config, const Interfaces& interfaces);

// Returns every next hop of the static routes, once.
std::vector<forwarding::NextHop> gateways_of(const std::vector<forwarding::Route>& routes);

// These do the same for IPv6, which has no broadcast addresses.
std::vector<forwarding::Route6> routes6_of(const SwitchConfig& config,
                                           const Interfaces& interfaces);
std::vector<forwarding::NextHop6> gateways6_of(const std::vector<forwarding::Route6>& routes);

// Returns the seed of the hash that spreads ordinary flows.
std::uint64_t ecmp_seed_of(const SwitchConfig& config);

// Returns the interfaces that are the only next hop of some route of either version of IP, and
// among several next hops of none.
std::vector<PortIndex> only_ways_of(const std::vector<forwarding::Route>& routes,
                                    const std::vector<forwarding::Route6>& routes6);

}  // namespace tributary::switching
