// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "packet/clock.h"

namespace tributary::test {

// Eight workers fill their links with one large allreduce, and the table has room for it.
struct OccupancyCase {
  unsigned levels = 2;  // of switches
  std::uint64_t rate_bps = 0;
  Duration timeout{};
  Duration late{};  // one worker's contributions, in every block
};

// The cases have one level or two, several rates and timeouts, and some a late worker.
// Contributions are not learned, as in the model.
std::vector<OccupancyCase> occupancy_cases();

// b(2d(l+t)+r), section 3.2.2 of the Canary paper.
double modelled_bytes(const OccupancyCase& of);
// The same, but on the leader's last hop t is root_timeout.
double modelled_bytes_with_a_patient_root(const OccupancyCase& of);

// The occupancy of the leaf that held most.
struct Occupied {
  std::uint64_t accumulator_bytes = 0;  // of blocks that gather
  std::uint64_t descriptor_bytes = 0;   // of all blocks, a full packet each, as the paper counts
  bool exact = false;
};
Occupied occupy(const OccupancyCase& with);

}  // namespace tributary::test
