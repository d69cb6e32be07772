// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/policy.h"

namespace tributary::forwarding {

// A flow that paused for longer than the gap may move without its packets overtaking each other,
// and goes where the queue is shortest. A flow whose port went down moves at once; one that finds
// its slot in use by another flow goes by the hash alone.
std::size_t choose_flowlet(const Choosing& choosing) {
  auto& group = choosing.group;
  const auto hash = choosing.flow.hash;
  auto& slot = choosing.flowlets.slot_of(hash);
  const bool known = slot.flow == hash;
  const bool active = slot.last + choosing.config.flowlet_gap >= choosing.now;
  if (active && !known) {
    return default_hop(group, hash);
  }
  const bool stays = known && slot.hop < group.up.size() && group.up[slot.hop];
  if (!active || !stays) {
    const auto hop = least_filled(choosing, stays ? slot.hop : default_hop(group, hash));
    ++group.counters.flowlets;
    group.counters.flowlets_moved += known && hop != slot.hop ? 1 : 0;
    slot.flow = hash;
    slot.hop = static_cast<std::uint16_t>(hop);
  }
  slot.last = choosing.now;
  return slot.hop;
}

}  // namespace tributary::forwarding
