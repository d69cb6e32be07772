// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "control/tree_support.h"
#include "protocols/netreduce/engine/config.h"

namespace tributary::netreduce {

// Returns whether the parts that two switches have belong to the same ring.
bool are_one_ring(const RingConfig& a, const RingConfig& b);

// Finds that no port of the switch takes what the ring sends: a router takes no IPv6 by ports that
// have no address of it.
std::optional<RingFault> find_route_fault(const RingConfig& ring,
                                          const switching::SwitchConfig& config);

// Lets switches take the ring of a job from a controller. The ring's id is the job's. If the ring
// spans several racks, its switches are a tree (section 3.3 of the paper): a leaf for each rack,
// and switches above.
extern const control::TreeSupport ring_support;

}  // namespace tributary::netreduce
