// SPDX-License-Identifier: BSD-3-Clause
// Which blocks get a descriptor: quotas, partitions, soft state (3.2, 3.4, 6).
#include "protocols/canary/engine/engine.h"

namespace tributary::canary {

// Why a block may have no descriptor, though the table may have room: the counter of the reason.
std::uint64_t* CanaryEngine::refusal(const wire::CanaryHeader& header, PortIndex port, Time now) {
  const auto job = header.job.value();
  if (auto* old = table_.superseded_by(header.key())) {
    ++counters_.superseded;
    release(*old);
  }
  auto verdict = tenants_.judge(job, port);
  if (verdict != Tenants::Verdict::within && reclaim_for(verdict, job, port, now)) {
    verdict = tenants_.judge(job, port);
  }
  if (verdict != Tenants::Verdict::within) {
    return verdict == Tenants::Verdict::job_met ? &counters_.quota_job : &counters_.quota_port;
  }
  const auto reserved = tenants_.is_listed(job) ? 0 : tenants_.listed();
  return table_.admit(job, reserved, now, age_max()) ? nullptr : &counters_.partition_none;
}

// A quota full of blocks that nobody has come back for does not last: one of them makes room. Looks
// at a few of the oldest blocks only, which others may hold as well.
bool CanaryEngine::reclaim_for(Tenants::Verdict verdict, std::uint32_t job, PortIndex port,
                               Time now) {
  constexpr int looks_max = 16;
  auto* block = table_.first();
  for (int i = 0; i < looks_max && block != nullptr && block->born + config_.reclaim_after <= now;
       ++i, block = table_.after(*block)) {
    const bool counts =
        verdict == Tenants::Verdict::job_met ? job_of(block->key) == job : block->ingress == port;
    if (counts && block->state == Descriptor::State::sent) {
      ++counters_.reclaimed;
      release(*block);
      return true;
    }
  }
  return false;
}

// Soft state: what nobody has come back for makes room (3.3). Null is a collision.
Descriptor* CanaryEngine::occupy(std::uint64_t key, Time now, Time expiry) {
  if (auto* block = table_.allocate(key, now, expiry)) {
    return block;
  }
  auto* dead = table_.oldest_sent(key);
  if (dead == nullptr || dead->born + config_.reclaim_after > now) {
    return nullptr;
  }
  ++counters_.reclaimed;
  release(*dead);
  return table_.allocate(key, now, expiry);
}

}  // namespace tributary::canary
