// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "packet/packet.h"
#include "protocols/canary/engine/children.h"
#include "protocols/canary/engine/config.h"
#include "protocols/canary/engine/descriptor_table.h"
#include "protocols/canary/engine/job_table.h"
#include "protocols/canary/engine/occupancy.h"
#include "protocols/canary/engine/tenants.h"
#include "protocols/canary/engine/wide_store.h"

namespace tributary::canary {

// Holds blocks: their descriptors, what belongs to these, and on whose accounts they are.
struct BlockStore {
  BlockStore(const CanaryConfig& config, PortIndex ports, std::uint64_t seed)
      : table(config.descriptors, seed, config.partitions),
        children(table.size()),
        wide(table.size()),
        tenants(config, table.size(), ports, seed) {}

  std::span<const Child> children_of(const Descriptor& block) const {
    return children.of(table.slot_of(block), block.children);
  }

  // Gives back all that the block has.
  void release(Descriptor& block);
  // Puts other quotas in force, also for what is held.
  void reconfigure(const CanaryConfig& config, PortIndex ports, std::uint64_t seed);

  DescriptorTable table;
  ChildrenTable children;
  WideStore wide;
  JobTable jobs;
  Tenants tenants;
  Occupancy occupancy;
};

}  // namespace tributary::canary
