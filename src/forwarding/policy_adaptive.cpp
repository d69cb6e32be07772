// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/policy.h"

namespace tributary::forwarding {

// This is the rule of the Canary paper, section 5.2: the default up-port depends on the
// destination; if its queue is more than half full, the up-port with the fewest enqueued bytes is
// chosen. Where lines or queues differ, bytes alone do not tell which one that is. For blocks the
// default also depends on what results told of the queues behind it.
std::size_t choose_adaptive(const Choosing& choosing) {
  const auto& flow = choosing.flow;
  const auto usual = flow.reduction ? default_root(choosing.group, flow.hash)
                                    : default_hop(choosing.group, flow.hash);
  if (!filling_of(choosing, usual).above_half()) {
    return usual;
  }
  const auto hop = least_filled(choosing, usual);
  choosing.group.counters.evaded += hop != usual ? 1 : 0;
  return hop;
}

}  // namespace tributary::forwarding
