// SPDX-License-Identifier: BSD-3-Clause
#include "support/reduction_tree.h"

#include <stdexcept>

#include "support/placed_tree.h"

namespace tributary::test {
namespace {

std::uint32_t memory_of(const std::vector<flare::TreeConfig>& trees) {
  std::uint64_t buffers = 0;
  for (const auto& tree : trees) {
    buffers += flare::buffers_of(tree);
  }
  return static_cast<std::uint32_t>(buffers);
}

}  // namespace

void set_up(FabricSpec& fabric, const ReductionTree& tree) {
  for (const auto& part : place_tree(fabric, tree.root, tree.hosts)) {
    flare::TreeConfig config;
    config.job = tree.job;
    config.group = tree.group;
    config.children = part.children;
    config.child_addresses = part.child_addresses;
    config.parent = part.parent;
    config.parent_address = part.parent_address;
    config.workers = part.workers;
    config.workers_below = part.workers_below;
    config.window = tree.window;
    config.sparse_window = tree.sparse_window;
    config.reproducible = tree.reproducible;
    auto& settings = fabric.switches[part.switch_index].config.protocols.get<flare::FlareConfig>();
    settings.trees.push_back(config);
    settings.working_memory = memory_of(settings.trees);
    if (const auto fault = flare::find_fault(settings, settings.trees.size() - 1)) {
      throw std::logic_error(fault->message);
    }
  }
}

}  // namespace tributary::test
