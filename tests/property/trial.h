// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "property/shape.h"
#include "support/virtual_fabric.h"

namespace tributary::test {

struct Outcome {
  std::string fault;         // empty: everything held
  std::string state;         // of the workers, if something did not hold
  std::string drops;         // by switches: reason=packets
  std::uint64_t digest = 0;  // of everything that happened; the same whenever the shape is the same
  std::uint64_t frames = 0;
  Duration longest{};  // collective
  std::uint64_t succeeded = 0;
  std::uint64_t failed = 0;
  std::uint64_t switch_sums = 0;
  std::uint64_t requests = 0;
  std::uint64_t reissues = 0;
  std::uint64_t direct_blocks = 0;
  std::uint64_t collisions = 0;
  std::uint64_t panama_sums = 0;         // of switches
  std::uint64_t panama_repeats = 0;      // packets that workers sent again
  std::uint64_t panama_replays = 0;      // results that switches sent again
  std::uint64_t panama_partial = 0;      // results that lack some ranks
  std::uint64_t netreduce_sums = 0;      // of switches
  std::uint64_t netreduce_repeats = 0;   // packets that workers sent again
  std::uint64_t netreduce_answered = 0;  // of these, packets that a switch answered with its sum
  std::uint64_t flare_sums = 0;          // of switches
  std::uint64_t flare_repeats = 0;       // packets that workers sent again
  std::uint64_t flare_replays = 0;       // results that switches sent again
  std::uint64_t flare_inquiries = 0;     // of switches, for results that they lack
};

// Runs a shape to its end and checks every invariant of docs/testing.md. `pool` is whole before and
// after.
Outcome run_trial(const Shape& shape, HeapPacketPool& pool,
                  std::function<void(const Hop&)> trace = {});

}  // namespace tributary::test
