// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/job_table.h"

#include <algorithm>
#include <span>
#include <utility>

#include "protocols/canary/wire.h"

namespace tributary::canary {

std::uint16_t JobTable::find_or_add(std::uint32_t job, std::uint64_t seed) {
  const std::size_t first = (wire::mix_key(job, seed) % sets) * ways;
  Entry* victim = nullptr;
  for (auto& candidate : std::span(entries_).subspan(first, ways)) {
    if (candidate.last_used != 0 && candidate.status.job == job) {
      candidate.last_used = ++uses_;
      return static_cast<std::uint16_t>(&candidate - entries_.data());
    }
    const auto worth = [](const Entry& entry) {
      return std::pair(entry.status.results != 0, entry.last_used);
    };
    const bool can_go = candidate.status.descriptors == 0;
    if (can_go && (victim == nullptr || worth(candidate) < worth(*victim))) {
      victim = &candidate;
    }
  }
  if (victim == nullptr) {
    ++untracked_total_;
    return untracked;
  }
  *victim = Entry{};
  victim->status.job = job;
  victim->last_used = ++uses_;
  return static_cast<std::uint16_t>(victim - entries_.data());
}

void JobTable::add_result(std::uint16_t at) {
  if (auto* job = entry(at)) {
    ++job->status.results;
  }
}

void JobTable::add_bypassed(std::uint16_t at) {
  if (auto* job = entry(at)) {
    ++job->status.bypassed;
  }
}

void JobTable::add_descriptor(std::uint16_t at, Duration timeout) {
  if (auto* job = entry(at)) {
    auto& status = job->status;
    status.descriptors_high_water = std::max(status.descriptors_high_water, ++status.descriptors);
    status.timeout = timeout != Duration{} ? timeout : status.timeout;
  }
}

void JobTable::remove_descriptor(std::uint16_t at) {
  if (auto* job = entry(at)) {
    --job->status.descriptors;
  }
}

std::vector<engine::JobStatus> JobTable::status() const {
  std::vector<engine::JobStatus> all;
  for (const auto& candidate : entries_) {
    if (candidate.last_used != 0) {
      all.push_back(candidate.status);
    }
  }
  return all;
}

}  // namespace tributary::canary
