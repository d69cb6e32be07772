// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "controller/spanning.h"
#include "controller/topology.h"

namespace tributary::controller {

// Turns a spanning tree into what each of its switches is told.
Tree make_tree(const Topology& topology, const Job& job, const Parents& parents, std::uint16_t id,
               std::size_t root, wire::Ipv4Address group);

}  // namespace tributary::controller
