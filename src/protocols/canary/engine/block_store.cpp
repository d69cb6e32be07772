// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/block_store.h"

namespace tributary::canary {

void BlockStore::release(Descriptor& block) {
  jobs.remove_descriptor(block.job);
  tenants.give(block.share);
  if (block.state == Descriptor::State::gathering) {
    occupancy.remove(block.bytes);
  }
  if (block.wide != WideStore::none) {
    wide.give(block.wide);
  }
  table.release(block);
}

void BlockStore::reconfigure(const CanaryConfig& config, PortIndex ports, std::uint64_t seed) {
  tenants = Tenants(config, table.size(), ports, seed);
  for (auto* block = table.first(); block != nullptr; block = table.after(*block)) {
    block->share = tenants.share_of(job_of(block->key), block->share.port);
    tenants.take(block->share);
  }
}

}  // namespace tributary::canary
