// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>

#include "host/clock.h"
#include "host/communicator_options.h"
#include "host/error.h"
#include "host/probe.h"
#include "host/ring/ring.h"
#include "host/runner.h"
#include "protocols/netreduce/carrier/options.h"
#include "protocols/netreduce/host/plan.h"

namespace tributary::host {

// Has a rank begin a run as planned.
using BeginRun = std::function<Result<void>(const NetReducePlan& plan)>;

// A full packet is waited for so long, and in a smaller size so long.
struct ProbePatience {
  Duration full = probe_patience;
  Duration smaller = path_step_patience;
};

// Runs the barrier that begins a run, and then a full message. Where the one passes and the other
// does not, the ranks try the next smaller path MTU of RDMA, until it passes. A failure ends a run,
// so that each attempt has one of its own; the first has begun. `plan` becomes that of the last.
Result<Observation> observe_netreduce(NetReducePlan& plan, Runner& runner, Ring& ring,
                                      const BeginRun& begin_run, const Deadline& until,
                                      const ProbePatience& patience = {});

// Decides by which algorithm a communicator runs, or why it must not. The ring is mixed if some
// ranks have an RDMA device and others an endpoint in software.
Result<Choice> choose_netreduce(const CommunicatorOptions& options, const NetReduceOptions& own,
                                std::uint32_t job, const Observation& observation, bool mixed);

}  // namespace tributary::host
