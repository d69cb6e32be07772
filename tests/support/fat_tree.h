// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "protocols/canary/engine/config.h"
#include "protocols/panama/engine/config.h"
#include "support/virtual_fabric.h"

namespace tributary::test {

// A FatTree has two levels: every leaf is linked to every spine, every host is behind a leaf's
// routed port. Host h of leaf l (from 1) is 10.l.h.2.
struct FatTree {
  unsigned leaves = 4;
  unsigned hosts_per_leaf = 2;
  unsigned spines = 2;
  std::uint64_t rate_bps = 0;
  bool spines_aggregate = true;  // otherwise they are ordinary routers
  canary::CanaryConfig canary;
  std::optional<panama::PanamaConfig> panama;  // of every switch
  forwarding::ImpairmentConfig impair;         // of every port, inwards
};

FabricSpec make_fat_tree(const FatTree& shape);

}  // namespace tributary::test
