// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "host/clock.h"
#include "host/communicator_options.h"
#include "host/deadline.h"
#include "host/error.h"
#include "host/ring/ring.h"
#include "host/runner.h"

namespace tributary::host {

// Has what the ranks found out about the network between them. It is the same on all of them, but
// for the text.
struct Observation {
  std::uint32_t ranks = 0;
  std::uint32_t summed = 0;  // ranks that saw what they looked for
  std::uint32_t failed = 0;  // ranks for which it did not work at all
  std::uint32_t missed = 0;  // of those, ranks that gave up before others had begun
  std::string reason;        // why, where it is known
};

struct Choice {
  std::string algorithm;  // not "auto"
  std::string notice;     // one line: by which algorithm, and why
  // Says why hosts do what switches were to do; empty: they do not.
  std::string fallback{};
};

// The vectors that are reduced one after the other, in bytes; 0 is a barrier.
using Probe = std::vector<std::size_t>;

// An attempt ends after so long without progress. That is long enough for some lost packets; a
// network that drops all packets of a protocol is not waited for longer.
inline constexpr Duration probe_patience = std::chrono::seconds(5);
inline constexpr int probe_attempts_max = 3;
// A step of the search for the MTU of a path takes so long where packets do not pass.
inline constexpr Duration path_step_patience = std::chrono::seconds(1);

// Has what ranks look for while they try, and for how long.
struct Watch {
  std::function<bool()> seen = [] { return true; };
  Duration patience = probe_patience;
  // Is called before each attempt, while no rank tries.
  std::function<Result<void>()> prepare = [] { return Result<void>(); };
};

// Reduces these vectors.
Result<void> reduce_all(const Probe& probe, Runner& runner, const Deadline& until);

// An attempt is what a rank tries by `runner`.
using Attempt = std::function<Result<void>(Runner& runner, const Deadline& until)>;
// Returns the deadline of an attempt. It leaves ranks some of the time, to tell each other what
// came of the attempt.
Deadline deadline_of_attempt(const Deadline& until, Duration patience = probe_patience);

// Has all ranks try at once, and tell each other over the ring, which works in any case, what came
// of it and whether they have seen what they looked for. Over a network that loses packets ranks
// can leave the barrier in front of it seconds after the others, as TCP waits before it sends
// again; where some gave up for that reason, all try again.
Result<Observation> observe(Runner& runner, Ring& ring, const Attempt& attempt,
                            const Deadline& until, const Watch& watch = {});
// Does so with an attempt that reduces these vectors.
Result<Observation> look(Runner& runner, Ring& ring, const Probe& probe, const Deadline& until,
                         const Watch& watch = {});

// "job 7, 4 ranks: "
std::string who(const CommunicatorOptions& options, std::uint32_t job);
// "3 of 4 ranks"
std::string of(std::uint32_t some, std::uint32_t all);
// Returns why it does not work: `what`, for how many ranks, and for which reason if that is known.
std::string why_not(const std::string& what, const Observation& observation);

// Ends the notice of ranks whose packets have so many IP bytes, fewer than their interfaces take.
std::string in_smaller_packets(std::uint32_t bytes);

// The ring of the hosts takes over, or it is an error where that was switched off. `advice` says
// what would help.
Result<Choice> fall_back(const CommunicatorOptions& options, const std::string& start,
                         const std::string& why, const std::string& advice);
// Where a ring of the hosts was asked for, nothing need be observed.
Choice choose_ring(const CommunicatorOptions& options, std::uint32_t job);

}  // namespace tributary::host
