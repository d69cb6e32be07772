// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "forwarding/route_table.h"
#include "switch/config.h"
#include "switch/interfaces.h"

namespace tributary::switching {

// All routes of a logical switch: its own addresses, the broadcast addresses of its prefixes, the
// connected prefixes, the static routes. A `via` that is on no connected prefix is left out.
std::vector<forwarding::Route> routes_of(const SwitchConfig& config, const Interfaces& interfaces);

// Every next hop of the static routes, once.
std::vector<forwarding::NextHop> gateways_of(const std::vector<forwarding::Route>& routes);

// Interfaces that are the only next hop of a route, and one of several of none.
std::vector<PortIndex> only_ways_of(const std::vector<forwarding::Route>& routes);

}  // namespace tributary::switching
