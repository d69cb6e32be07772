// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/policy.h"

namespace tributary::forwarding {

// The rule of the Canary paper, section 5.2: the default up-port depends on the destination; if its
// queue is more than half full, the up-port with the fewest enqueued bytes. Where lines or queues
// differ, bytes alone do not tell which one that is.
std::size_t choose_adaptive(const Choosing& choosing) {
  const auto usual = default_hop(choosing.group, choosing.flow.hash);
  if (!filling_of(choosing, usual).above_half()) {
    return usual;
  }
  const auto hop = least_filled(choosing, usual);
  choosing.group.counters.evaded += hop != usual ? 1 : 0;
  return hop;
}

}  // namespace tributary::forwarding
