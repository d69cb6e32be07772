// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>

#include "host/rtt_estimator.h"
#include "wire/ipv4.h"

namespace tributary::host {

// The ranks of a job agreed on this about its reduction tree (4).
struct FlarePlan {
  wire::Ipv4Address group;    // multicast address of the tree
  std::uint32_t window = 64;  // blocks that each rank may have in flight; the switches know it
  std::uint32_t sparse_window = 0;  // likewise of sparse blocks (7); 0: there are none
};

struct FlareTuning {
  // Nothing is timed in a collective of less than a window: all of it is sent before it is known
  // that the other ranks have begun. So the initial value counts.
  RtoBounds rto{.rto_min = std::chrono::milliseconds(10),
                .rto_initial = std::chrono::milliseconds(20)};
};

}  // namespace tributary::host
