// SPDX-License-Identifier: BSD-3-Clause
#include "support/aggregation_tree.h"

#include "protocols/panama/engine/config.h"
#include "support/placed_tree.h"

namespace tributary::test {

void set_up(FabricSpec& fabric, const AggregationTree& tree) {
  for (const auto& part : place_tree(fabric, tree.root, tree.hosts)) {
    panama::TreeConfig config;
    config.job = tree.job;
    config.tree = tree.tree;
    config.group = tree.group;
    config.children = part.children;
    config.child_addresses = part.child_addresses;
    config.parent = part.parent;
    config.parent_address = part.parent_address;
    config.workers = part.workers;
    config.workers_below = part.workers_below;
    config.quorum = tree.quorum == 0 ? part.workers : tree.quorum;
    auto& protocols = fabric.switches[part.switch_index].config.protocols;
    protocols.get<panama::PanamaConfig>().trees.push_back(config);
  }
}

}  // namespace tributary::test
