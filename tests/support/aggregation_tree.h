// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/virtual_fabric.h"
#include "wire/ipv4.h"

namespace tributary::test {

// This is one aggregation tree of a PANAMA job: the part that a controller has in a fabric.
struct AggregationTree {
  std::uint32_t job = 1;
  std::uint16_t tree = 0;
  wire::Ipv4Address group;
  std::vector<std::size_t> hosts;  // of the ranks; each is there once
  std::size_t root = 0;            // switch
  std::uint16_t quorum = 0;        // 0: all
};

// Sets up the switches on the shortest ways from the root to the hosts. Precondition: there are
// such ways, and all switches of the fabric have the engine.
void set_up(FabricSpec& fabric, const AggregationTree& tree);

}  // namespace tributary::test
