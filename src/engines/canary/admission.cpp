// SPDX-License-Identifier: BSD-3-Clause
// Which blocks get a descriptor: quotas, partitions, soft state (3.2, 3.4, 6).
#include "engines/canary/engine.h"

namespace tributary::canary {

// Why a block may have no descriptor, though the table may have room: the counter of the reason.
std::uint64_t* CanaryEngine::refusal(const wire::CanaryHeader& header, PortIndex port, Time now) {
  const auto job = header.job.value();
  if (auto* old = table_.superseded_by(header.key())) {
    ++counters_.superseded;
    release(*old);
  }
  auto verdict = tenants_.judge(job, port);
  if (verdict != Tenants::Verdict::within && reclaim_oldest(job, port, now)) {
    verdict = tenants_.judge(job, port);
  }
  if (verdict != Tenants::Verdict::within) {
    return verdict == Tenants::Verdict::job_met ? &counters_.quota_job : &counters_.quota_port;
  }
  const auto reserved = tenants_.is_listed(job) ? 0 : static_cast<std::uint32_t>(tenants_.listed());
  return table_.admit(job, reserved, now, age_max()) ? nullptr : &counters_.partition_none;
}

// A quota full of blocks that nobody has come back for does not last.
bool CanaryEngine::reclaim_oldest(std::uint32_t job, PortIndex port, Time now) {
  auto* dead = table_.first();
  if (dead == nullptr || dead->state != Descriptor::State::sent ||
      dead->born + config_.reclaim_after > now ||
      (job_of(dead->key) != job && dead->ingress != port)) {
    return false;
  }
  ++counters_.reclaimed;
  release(*dead);
  return true;
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
