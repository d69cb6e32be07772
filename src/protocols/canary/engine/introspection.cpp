// SPDX-License-Identifier: BSD-3-Clause
// What the engine tells operators. Not on the packet path: allocates freely.
#include "protocols/canary/engine/engine.h"

namespace tributary::canary {

std::vector<engine::Figure> CanaryEngine::figures() const {
  return {
      {"contributions_total", counters_.contributions},
      {"blocks_total", counters_.blocks},
      {"joined_total", counters_.joined},
      {"partial_sums_total",
       counters_.sums_complete + counters_.sums_expected + counters_.sums_timeout},
      {"partial_sums_complete_total", counters_.sums_complete},
      {"partial_sums_expected_total", counters_.sums_expected},
      {"partial_sums_timeout_total", counters_.sums_timeout},
      {"stragglers_total", counters_.stragglers},
      {"collisions_total", counters_.collisions},
      {"quota_job_total", counters_.quota_job},
      {"quota_port_total", counters_.quota_port},
      {"partition_none_total", counters_.partition_none},
      {"children_overflows_total", counters_.children_overflows},
      {"accumulator_overflows_total", counters_.accumulator_overflows},
      {"results_total", counters_.results},
      {"releases_total", counters_.releases},
      {"result_copies_total", counters_.copies},
      {"restorations_total", counters_.restorations},
      {"passed_total", counters_.passed},
      {"requests_total", counters_.requests},
      {"failures_total", counters_.failures},
      {"pendings_total", counters_.pendings},
      {"reclaimed_total", counters_.reclaimed},
      {"aged_total", counters_.aged},
      {"superseded_total", counters_.superseded},
      {"jobs_untracked_total", jobs_.untracked_total()},
      {"descriptors", table_.size()},
      {"descriptors_in_use", table_.in_use()},
      {"descriptors_high_water", table_.high_water(), engine::Merge::maximum},
      {"accumulators_in_use", occupancy_.accumulators()},
      {"accumulators_high_water", occupancy_.accumulators_high_water(), engine::Merge::maximum},
      {"accumulator_bytes", occupancy_.bytes()},
      {"accumulator_bytes_high_water", occupancy_.bytes_high_water(), engine::Merge::maximum},
  };
}

std::vector<engine::JobStatus> CanaryEngine::jobs() const {
  return jobs_.status();
}

std::vector<engine::DescriptorStatus> CanaryEngine::descriptors(Time now, std::size_t limit) const {
  std::vector<engine::DescriptorStatus> blocks;
  for (const auto* block = table_.first(); block != nullptr && blocks.size() < limit;
       block = table_.after(*block)) {
    engine::DescriptorStatus status;
    status.job = job_of(block->key);
    status.id = static_cast<std::uint32_t>(block->key);
    status.counter = block->counter;
    status.hosts = block->shape.hosts;
    status.sent = block->state == Descriptor::State::sent;
    status.age = now - block->born;
    status.leader = block->shape.leader;
    for (const auto& child : children_.of(table_.slot_of(*block), block->children)) {
      status.children.push_back(child.port);
    }
    blocks.push_back(std::move(status));
  }
  return blocks;
}

}  // namespace tributary::canary
