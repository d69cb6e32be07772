// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "protocols/canary/engine/config.h"
#include "support/virtual_fabric.h"

namespace tributary::test {

// ThreeLevels is a fat tree: in a pod every leaf is linked to every spine, and spine s of each pod
// to cores of its own, which it shares with spine s of the others. The first host of leaf l of pod
// p (from 1) is 10.p.l.2, the next one 10.p.l.6.
struct ThreeLevels {
  unsigned pods = 2;
  unsigned leaves_per_pod = 2;
  unsigned hosts_per_leaf = 1;
  unsigned spines_per_pod = 8;   // a leaf's ways up
  unsigned cores_per_spine = 8;  // a spine's ways up
  std::uint64_t leaf_seed = 0;   // of reductions
  std::uint64_t spine_seed = 0;
  double loss = 0;  // on every cable, in either direction
  canary::CanaryConfig canary;
};

FabricSpec make_three_levels(const ThreeLevels& shape);

}  // namespace tributary::test
