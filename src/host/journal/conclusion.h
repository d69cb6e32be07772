// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "host/clock.h"
#include "host/journal/sketch_bytes.h"
#include "host/statistics.h"

namespace tributary::host {

// Has what a communicator did, on this rank.
struct Conclusion {
  std::string title;  // which one: "job 7, 4 ranks"
  Duration lived{};
  std::string algorithm;
  std::uint64_t by_carrier = 0;  // collectives that succeeded
  std::uint64_t by_ring = 0;
  std::uint64_t failures = 0;
  std::map<std::string, std::uint64_t> reasons;  // how many went by the ring for which reason
  const ProtocolStatistics& carried;
  SketchBytes sketches{};
};

// Says in one line what carried the collectives, over which switches, with how many bytes, why the
// ring of the hosts had to carry others, and what sketches saved.
std::string conclusion_of(const Conclusion& conclusion);
// Says the same of ranks that are all on one machine, and need nothing of that: of `conclusion` it
// looks at the title, the time, what went by the ring or failed, and sketches.
std::string conclusion_in_memory(const Conclusion& conclusion);

}  // namespace tributary::host
