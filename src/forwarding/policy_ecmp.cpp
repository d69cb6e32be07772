// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/policy.h"

namespace tributary::forwarding {

// With equal-cost multipath (RFC 2992) the hash alone decides, whatever the queues hold.
std::size_t choose_ecmp(const Choosing& choosing) {
  return default_hop(choosing.group, choosing.flow.hash);
}

}  // namespace tributary::forwarding
