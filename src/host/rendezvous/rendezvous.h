// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "host/clock.h"
#include "host/error.h"
#include "host/job.h"
#include "host/rendezvous/messages.h"

namespace tributary::host {

// What the ranks know of each other afterwards.
struct Meeting {
  Job job;
  std::vector<Endpoint> ring;         // where each rank listens for its ring predecessor, by rank
  std::vector<RendezvousLink> links;  // by rank
};

// Rank 0 waits at `place` for all others, the others go there; it checks that they agree and hands
// out the table. The payload and the window agreed on are the smallest of all. Ends by `until`.
Result<Meeting> meet(const Endpoint& place, const RendezvousHello& hello, Time until);

}  // namespace tributary::host
