// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "packet/clock.h"

namespace tributary::forwarding {

// One core of a switch remembers the flows that it saw lately and where they went. The table is
// direct-mapped and of fixed size: a flow that finds its slot in use by another has no flowlets as
// long as that one goes on.
class FlowletTable {
 public:
  static constexpr std::size_t slots = 4096;

  struct Slot {
    Time last = Time::min();  // when the flow's latest packet came
    std::uint32_t flow = 0;
    std::uint16_t hop = 0;
  };

  // Forgets all flows. Without `wanted` the table has no memory, and is not to be asked.
  void reset(bool wanted) { slots_.assign(wanted ? slots : 0, Slot{}); }

  Slot& slot_of(std::uint32_t flow) { return slots_[flow % slots]; }

 private:
  std::vector<Slot> slots_;
};

}  // namespace tributary::forwarding
