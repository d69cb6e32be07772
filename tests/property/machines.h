// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "host/machine.h"
#include "packet/clock.h"
#include "property/shape.h"
#include "protocols/canary/host/statistics.h"

namespace tributary::test {

// Makes the machine with which a rank takes part in one of its job's runs, for the engine that the
// shape has for it. Precondition: the peers of `job` are those of all ranks.
std::unique_ptr<host::Machine> make_machine(const Shape& shape, std::uint32_t index,
                                            const host::Job& job, std::uint64_t run);

// Counts the outcomes of the collectives of a job.
struct Tally {
  std::uint64_t succeeded = 0;  // collectives of one rank
  std::uint64_t failed = 0;
  Duration longest{};
  CanaryStatistics canary;
  std::uint64_t panama_repeats = 0;  // packets that were sent again
  std::uint64_t panama_partial = 0;  // results that lack some ranks
  std::uint64_t roce_repeats = 0;    // packets that were sent again
  std::uint64_t flare_repeats = 0;   // packets that were sent again

  // Adds the figures of a rank's machine.
  void add(const Shape& shape, std::uint32_t index, const host::Machine& machine);
};

}  // namespace tributary::test
