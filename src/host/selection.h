// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "host/clock.h"
#include "host/communicator_options.h"
#include "host/error.h"
#include "host/ring/ring.h"
#include "host/runner.h"
#include "host/transport/driver.h"
#include "protocols/canary/host/collectives.h"
#include "protocols/netreduce/host/plan.h"
#include "protocols/panama/host/collectives.h"

namespace tributary::host {

// What the ranks found out about the network between them; the same on all of them, but for the
// text.
struct Observation {
  std::uint32_t ranks = 0;
  std::uint32_t summed = 0;  // ranks that were handed contributions which a switch had added up
  std::uint32_t failed = 0;  // ranks for which it did not work at all
  std::string reason;        // why, where it is known
};

// A tiny allreduce, in which each rank (of the first few) leads one full packet, and an exchange of
// what was seen over the ring, which works in any case.
Result<Observation> observe(const CanaryCollectives& machine, Driver& driver, Ring& ring,
                            Time until);

// The same where there are aggregation trees: a full packet in each.
Result<Observation> observe_trees(const PanamaCollectives& machine, Driver& driver, Ring& ring,
                                  Time until);

// The same where there is a ring of NetReduce: the barrier that begins a run, and then a full
// message, of which a switch takes nothing if its ring has shorter ones or another MTU.
Result<Observation> observe_netreduce(const NetReducePlan& plan, Runner& runner, Ring& ring,
                                      Time until);

struct Choice {
  Algorithm algorithm = Algorithm::ring;  // not automatic
  std::string notice;                     // one line: by what, and why
  bool switches_reduce = false;
};

// By which algorithm a communicator runs, or why it must not.
Result<Choice> choose(const CommunicatorOptions& options, std::uint32_t job,
                      const Observation& observation);
Result<Choice> choose_trees(const CommunicatorOptions& options, const PanamaCollectives& machine,
                            const Observation& observation);
// Mixed: some ranks have an RDMA device, others an endpoint in software.
Result<Choice> choose_netreduce(const CommunicatorOptions& options, std::uint32_t job,
                                const Observation& observation, bool mixed);
// Where a ring of the hosts was asked for, nothing need be observed.
Choice choose_ring(const CommunicatorOptions& options, std::uint32_t job);

}  // namespace tributary::host
