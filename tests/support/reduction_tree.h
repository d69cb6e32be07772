// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocols/flare/engine/config.h"
#include "support/virtual_fabric.h"
#include "wire/ipv4.h"

namespace tributary::test {

// This is the reduction tree of a Flare job: the part that a network manager has in a fabric.
struct ReductionTree {
  std::uint32_t job = 1;
  wire::Ipv4Address group;
  std::vector<std::size_t> hosts;  // of the ranks; each is there once
  std::size_t root = 0;            // switch
  std::uint32_t window = flare::window_default;
  std::uint32_t sparse_window = 0;
  bool reproducible = false;
};

// Sets up the switches on the shortest ways from the root to the hosts, with no more working memory
// than their trees need. Throws if the engine would not take such a tree. Precondition: there are
// such ways, and all switches of the fabric have the engine.
void set_up(FabricSpec& fabric, const ReductionTree& tree);

}  // namespace tributary::test
