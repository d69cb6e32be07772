// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "host/clock.h"
#include "host/deadline.h"
#include "host/job.h"
#include "protocols/canary/host/block_window.h"
#include "protocols/canary/host/blocks.h"
#include "protocols/canary/host/presence.h"
#include "protocols/canary/host/progress.h"
#include "protocols/canary/host/response_times.h"
#include "protocols/canary/host/statistics.h"
#include "protocols/canary/host/tuning.h"

namespace tributary::host {

// The worker and the leader of one rank share this about the collective that runs.
struct CollectiveState {
  CollectiveState(const Job& of, const CanaryTuning& tuned)
      : job(of),
        tuning(tuned),
        progress(of.window),
        window(of.window, tuned.congestion_control),
        presence(of.world_size()),
        rtt(tuned.rto) {}

  void begin(const Blocks& begun, Time now, const Deadline& until) {
    blocks = begun;
    deadline = until;
    deadline.begin(now);
    mismatches_before = statistics.ignored[Verdict::mismatch];
    progress.begin(blocks.count(), blocks.has_completion());
    presence.begin();
  }
  // `congested` means that a queue was, on the way of anything that the block is made of, or of its
  // result.
  void complete(std::uint32_t block, bool congested) {
    const bool full = progress.open() >= window.size();
    progress.complete(block);
    presence.finished(block);
    window.done(congested, full);
    statistics.blocks_marked += congested ? 1 : 0;
    statistics.window = window.size();
  }

  Job job;
  const CanaryTuning tuning;
  bool switches_required = false;  // a block to which no switch has contributed is a failure
  Blocks blocks;
  Progress progress;
  BlockWindow window;
  Presence presence;
  Deadline deadline;
  ResponseTimes rtt;
  CanaryStatistics statistics;
  std::uint64_t mismatches_before = 0;  // when the collective began
};

}  // namespace tributary::host
