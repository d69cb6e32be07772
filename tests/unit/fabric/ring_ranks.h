// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "control/config.h"
#include "host/job.h"
#include "host/machine.h"
#include "protocols/netreduce/engine/config.h"
#include "protocols/netreduce/host/collectives.h"

namespace tributary::test {

// Returns the ring of a plan as a switch is told of it, without members.
netreduce::RingConfig ring_of(const host::NetReducePlan& plan);

// Adds a ring to a switch; throws if the switch could not have it.
void add_ring(control::SwitchSection& section, netreduce::RingConfig ring);

// Returns the machine of a rank, whose connections are with the ranks beside it in the job.
std::unique_ptr<host::Machine> make_ring_rank(const host::Job& job,
                                              const host::NetReducePlan& plan);

}  // namespace tributary::test
