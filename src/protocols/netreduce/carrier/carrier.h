// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "host/clock.h"
#include "host/communicator_options.h"
#include "host/error.h"
#include "host/probe.h"
#include "host/ring/ring.h"
#include "host/runner.h"
#include "protocols/netreduce/carrier/options.h"
#include "protocols/netreduce/host/plan.h"

namespace tributary::host {

// Runs the barrier that begins a run, and then a full message, of which a switch takes nothing if
// its ring has shorter ones or another MTU.
Result<Observation> observe_netreduce(const NetReducePlan& plan, Runner& runner, Ring& ring,
                                      const Deadline& until, Duration patience = probe_patience);

// Decides by which algorithm a communicator runs, or why it must not. The ring is mixed if some
// ranks have an RDMA device and others an endpoint in software.
Result<Choice> choose_netreduce(const CommunicatorOptions& options, const NetReduceOptions& own,
                                std::uint32_t job, const Observation& observation, bool mixed);

}  // namespace tributary::host
