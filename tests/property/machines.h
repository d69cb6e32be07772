// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "host/machine.h"
#include "packet/clock.h"
#include "property/shape.h"
#include "protocols/canary/host/statistics.h"

namespace tributary::test {

// What a rank needs to take part in one of its job's runs, by the engine that the shape has for it.
// Precondition: the peers of `job` are those of all ranks.
std::unique_ptr<host::Machine> make_machine(const Shape& shape, std::uint32_t index,
                                            const host::Job& job, std::uint64_t run);

// What became of the collectives of a job.
struct Tally {
  std::uint64_t succeeded = 0;  // collectives of one rank
  std::uint64_t failed = 0;
  Duration longest{};
  CanaryStatistics canary;
  std::uint64_t panama_repeats = 0;  // packets that were sent again
  std::uint64_t panama_partial = 0;  // results without somebody
  std::uint64_t roce_repeats = 0;    // packets that were sent again
  std::uint64_t flare_repeats = 0;   // packets that were sent again

  // What the machine of a rank tells of itself.
  void add(const Shape& shape, std::uint32_t index, const host::Machine& machine);
};

}  // namespace tributary::test
