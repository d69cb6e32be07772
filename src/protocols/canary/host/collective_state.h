// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "host/clock.h"
#include "host/deadline.h"
#include "host/job.h"
#include "protocols/canary/host/blocks.h"
#include "protocols/canary/host/presence.h"
#include "protocols/canary/host/progress.h"
#include "protocols/canary/host/response_times.h"
#include "protocols/canary/host/statistics.h"
#include "protocols/canary/host/tuning.h"

namespace tributary::host {

// What the worker and the leader of one rank share about the collective that runs.
struct CollectiveState {
  CollectiveState(const Job& of, const CanaryTuning& tuned)
      : job(of), tuning(tuned), progress(of.window), presence(of.world_size()), rtt(tuned.rto) {}

  void begin(const Blocks& begun, Time now, const Deadline& until) {
    blocks = begun;
    deadline = until;
    deadline.begin(now);
    progress.begin(blocks.count(), blocks.has_completion());
    presence.begin();
  }
  void complete(std::uint32_t block) {
    progress.complete(block);
    presence.finished(block);
  }

  Job job;
  const CanaryTuning tuning;
  bool switches_required = false;  // a block to which no switch has contributed is a failure
  Blocks blocks;
  Progress progress;
  Presence presence;
  Deadline deadline;
  ResponseTimes rtt;
  CanaryStatistics statistics;
};

}  // namespace tributary::host
