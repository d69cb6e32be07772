// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "host/rtt_estimator.h"
#include "wire/ipv4.h"

namespace tributary::host {

// The ranks of a job agreed on this about its aggregation trees (3, 4).
struct PanamaPlan {
  std::vector<wire::Ipv4Address> trees;  // multicast groups, by tree id
  bool congestion_control = true;        // Figure 5; otherwise the window is as large as allowed
  std::uint32_t quorum = 0;              // ranks that a result needs; the world size: all of them
  // This rank may have so many packets on the way in one tree, whatever switches have room for.
  std::uint32_t window_max = 256;
};

struct PanamaTuning {
  // The fabric does not lose packets (4.2.2), so there is no hurry. A PAUSE may hold them up for a
  // while.
  RtoBounds rto{.rto_min = std::chrono::milliseconds(10),
                .slowest_max = std::chrono::milliseconds(50)};
};

}  // namespace tributary::host
