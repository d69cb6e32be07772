// SPDX-License-Identifier: BSD-3-Clause
// Which blocks wait, for whom: what the engine notes about them, and what it tells operators.
#include <algorithm>
#include <chrono>

#include "protocols/canary/engine/engine.h"

namespace tributary::canary {
namespace {

// Far beyond the time that any block takes: even a lost one is asked for before that.
constexpr Duration stalled_after = std::chrono::milliseconds(250);

engine::StallStatus status_of(std::uint32_t job, std::uint32_t id) {
  engine::StallStatus status;
  status.job = job;
  status.block = wire::canary_sequence(id);
  status.attempt = wire::canary_attempt(id);
  return status;
}

engine::StallStatus status_of(const StallTable::Row& row, Time now) {
  auto status = status_of(row.job, row.stall->id);
  status.leader = row.stall->leader;
  status.waiting = now - row.stall->first;
  status.contributions = row.stall->contributions;
  status.hosts = row.stall->hosts;
  const auto missing = row.stall->missing_ranks();
  status.missing.assign(missing.begin(), missing.end());
  return status;
}

engine::StallStatus status_of(const Descriptor& block, Time now) {
  auto status = status_of(job_of(block.key), static_cast<std::uint32_t>(block.key));
  status.leader = block.shape.leader;
  status.waiting = now - block.born;
  status.contributions = block.counter;
  status.hosts = block.shape.hosts;
  return status;
}

bool is_same_block(const engine::StallStatus& a, const engine::StallStatus& b) {
  return a.job == b.job && a.block == b.block;
}

}  // namespace

// What passes on its way between hosts.
void CanaryEngine::overhear(const engine::Frame& frame, const wire::CanaryView& view, Time now,
                            engine::Actions& actions) {
  const auto& header = *view.header;
  switch (header.kind) {
    case wire::CanaryKind::contribution:
      overhear_contribution(header, actions);
      break;
    case wire::CanaryKind::request:
      ++counters_.requests;
      break;
    case wire::CanaryKind::failure:
      ++counters_.failures;
      settle(header);
      break;
    case wire::CanaryKind::pending:
      ++counters_.pendings;
      stalls_.note(header, view.payload,
                   frame.ipv4 != nullptr ? frame.ipv4->source : header.child_address, now);
      break;
    case wire::CanaryKind::result:
    case wire::CanaryKind::restoration:
      settle(header);
      answered(header.key());
      break;
    case wire::CanaryKind::release:
      break;  // of one attempt; the block may wait on under the next
  }
}

// The leader has finished the block, or begun a new attempt: nobody waits for what was before.
void CanaryEngine::settle(const wire::CanaryHeader& header) {
  const auto job = header.job.value();
  const auto id = header.id.value();
  if (!stalls_.empty()) {
    stalls_.forget(job, id);
  }
  for (std::uint32_t attempt = 0; attempt < wire::canary_attempt(id); ++attempt) {
    answered((std::uint64_t{job} << 32) | wire::canary_id(wire::canary_sequence(id), attempt));
  }
}

// A descriptor of such a block may still be held, because its own result was lost.
void CanaryEngine::answered(std::uint64_t key) {
  if (auto* block = table_.find(key)) {
    block->answered = true;
  }
}

std::vector<engine::StallStatus> CanaryEngine::stalled(Time now, std::size_t limit) const {
  std::vector<engine::StallStatus> rows;
  for (const auto& row : stalls_.rows(now)) {
    rows.push_back(status_of(row, now));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.waiting > b.waiting; });
  // Those with names first: they say more than that something waits.
  const auto noted = rows.size();
  for (const auto* block = table_.first();
       block != nullptr && rows.size() < limit && now - block->born >= stalled_after;
       block = table_.after(*block)) {
    const auto status = status_of(*block, now);
    const auto end = rows.begin() + static_cast<std::ptrdiff_t>(noted);
    const auto is_this = [&](const auto& other) { return is_same_block(other, status); };
    if (const auto known = std::find_if(rows.begin(), end, is_this); known != end) {
      known->waiting = std::max(known->waiting, status.waiting);
    } else if (!block->answered) {
      rows.push_back(status);
    }
  }
  rows.resize(std::min(rows.size(), limit));
  return rows;
}

}  // namespace tributary::canary
