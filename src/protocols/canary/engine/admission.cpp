// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/admission.h"

namespace tributary::canary {

std::uint64_t* Admission::refusal(std::uint64_t key, const Tenants::Share& share, Time now) {
  const auto& tenants = blocks_.tenants;
  const bool is_partitioned = blocks_.table.is_partitioned();
  if (auto* old = is_partitioned ? blocks_.table.superseded_by(key) : nullptr) {
    ++counters_.superseded;
    blocks_.release(*old);
  }
  auto verdict = tenants.judge(share);
  if (verdict != Tenants::Verdict::within && reclaim_for(verdict, job_of(key), share.port, now)) {
    verdict = tenants.judge(share);
  }
  if (verdict != Tenants::Verdict::within) {
    return verdict == Tenants::Verdict::job_met ? &counters_.quota_job : &counters_.quota_port;
  }
  return is_partitioned && !has_part(job_of(key), now) ? &counters_.partition_none : nullptr;
}

bool Admission::has_part(std::uint32_t job, Time now) {
  const auto& tenants = blocks_.tenants;
  const auto reserved = tenants.is_listed(job) ? 0 : tenants.listed();
  return blocks_.table.admit(job, reserved, now, config_.age_limit());
}

// A quota full of blocks that nobody has come back for does not last: one of them makes room. Looks
// at a few of the oldest blocks only, which others may hold as well.
bool Admission::reclaim_for(Tenants::Verdict verdict, std::uint32_t job, PortIndex port, Time now) {
  constexpr int looks_max = 16;
  auto* block = blocks_.table.first();
  for (int i = 0; i < looks_max && block != nullptr && block->born + config_.reclaim_after <= now;
       ++i, block = blocks_.table.after(*block)) {
    const bool counts = verdict == Tenants::Verdict::job_met ? job_of(block->key) == job
                                                             : block->share.port == port;
    if (counts && block->state == Descriptor::State::sent) {
      reclaim(*block);
      return true;
    }
  }
  return false;
}

// The state is soft: what nobody has come back for makes room (3.3).
Descriptor* Admission::occupy(std::uint64_t key, Time now, Time expiry) {
  if (auto* block = blocks_.table.allocate(key, now, expiry)) {
    return block;
  }
  auto* dead = blocks_.table.oldest_sent(key);
  if (dead == nullptr || dead->born + config_.reclaim_after > now) {
    return nullptr;
  }
  reclaim(*dead);
  return blocks_.table.allocate(key, now, expiry);
}

void Admission::reclaim(Descriptor& block) {
  ++counters_.reclaimed;
  blocks_.release(block);
}

}  // namespace tributary::canary
