// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/status.h"
#include "packet/clock.h"

namespace tributary::canary {

// Tells operators what each job did here. The table is bounded: when its set is full, a job that
// holds no descriptor makes room, one without a result before others and the one that has been
// silent longest, so that a flood of ids drives out itself; if all hold some, the newcomer goes
// uncounted.
class JobTable {
 public:
  static constexpr std::uint16_t untracked = 0xffff;
  static constexpr std::size_t sets = 16;
  static constexpr std::size_t ways = 8;

  // Returns where `job` is accounted, or `untracked`. The answer stays valid while the entry holds
  // a descriptor.
  std::uint16_t find_or_add(std::uint32_t job, std::uint64_t seed);

  void add_contribution(std::uint16_t at) {
    if (auto* job = entry(at)) {
      ++job->status.contributions;
    }
  }
  void add_bypassed(std::uint16_t at);
  void add_result(std::uint16_t at);
  // Notes that a descriptor was begun. If `timeout` is zero, it says nothing about the job.
  void add_descriptor(std::uint16_t at, Duration timeout);
  void remove_descriptor(std::uint16_t at);

  std::uint64_t untracked_total() const { return untracked_total_; }
  std::vector<engine::JobStatus> status() const;

 private:
  struct Entry {
    engine::JobStatus status;
    std::uint64_t last_used = 0;  // 0: empty
  };
  Entry* entry(std::uint16_t at) { return at == untracked ? nullptr : &entries_[at]; }

  std::array<Entry, sets * ways> entries_{};
  std::uint64_t uses_ = 0;
  std::uint64_t untracked_total_ = 0;
};

}  // namespace tributary::canary
