// SPDX-License-Identifier: BSD-3-Clause
// This is what the engine tells operators. It is not on the packet path, so it allocates freely.
#include <algorithm>
#include <chrono>

#include "protocols/canary/engine/engine.h"

namespace tributary::canary {
namespace {

// This is far beyond the time that any block takes: even a lost one is asked for before that.
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

std::vector<engine::FigureKind> CanaryEngine::figure_kinds() {
  return engine::kinds_of(standing_figures);
}

std::vector<engine::Figure> CanaryEngine::figures() const {
  const auto& table = blocks_.table;
  const auto& occupancy = blocks_.occupancy;
  Standing now = {counters_, admission_.counters()};
  now.sums = now.sums_complete + now.sums_expected + now.sums_timeout;
  now.copies = results_.copies();
  now.untracked = blocks_.jobs.untracked_total();
  now.slots = table.size();
  now.in_use = table.in_use();
  now.high_water = table.high_water();
  now.accumulators = occupancy.accumulators();
  now.accumulators_high_water = occupancy.accumulators_high_water();
  now.bytes = occupancy.bytes();
  now.bytes_high_water = occupancy.bytes_high_water();
  std::vector<engine::Figure> all;
  engine::append_figures(all, now, standing_figures, engine::Of::engine);
  return all;
}

std::vector<engine::JobStatus> CanaryEngine::jobs() const {
  return blocks_.jobs.status();
}

std::vector<engine::DescriptorStatus> CanaryEngine::descriptors(Time now, std::size_t limit) const {
  std::vector<engine::DescriptorStatus> blocks;
  const auto& table = blocks_.table;
  for (const auto* block = table.first(); block != nullptr && blocks.size() < limit;
       block = table.after(*block)) {
    engine::DescriptorStatus status;
    status.job = job_of(block->key);
    status.id = static_cast<std::uint32_t>(block->key);
    status.counter = block->counter;
    status.hosts = block->shape.hosts;
    status.sent = block->state == Descriptor::State::sent;
    status.age = now - block->born;
    status.leader = block->shape.leader;
    for (const auto& child : blocks_.children_of(*block)) {
      status.children.push_back(child.port);
    }
    blocks.push_back(std::move(status));
  }
  return blocks;
}

std::vector<engine::StallStatus> CanaryEngine::stalled(Time now, std::size_t limit) const {
  std::vector<engine::StallStatus> rows;
  const auto& table = blocks_.table;
  for (const auto& row : stalls_.rows(now)) {
    rows.push_back(status_of(row, now));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.waiting > b.waiting; });
  // Those with names come first: they say more than that something waits.
  const auto noted = rows.size();
  for (const auto* block = table.first();
       block != nullptr && rows.size() < limit && now - block->born >= stalled_after;
       block = table.after(*block)) {
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
