// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "host/clock.h"
#include "host/journal/journal.h"
#include "host/journal/sketch_bytes.h"
#include "host/statistics.h"

namespace tributary::host {

// Has what is known when a communicator ends.
struct Ending {
  std::string title;                // which communicator
  Duration lived{};                 // since it was made
  std::span<const Duration> ranks;  // how long each rank was in collectives; empty: not known
  const ProtocolStatistics& carried;
  SketchBytes sketches{};
};

// Returns lines for people, as a profiler of MPI shows them: one for each kind of collective, what
// sketches saved, what the protocol counted, and for whom the others waited.
std::vector<std::string> report_of(const Tallies& tallies, const Ending& ending);

}  // namespace tributary::host
