// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "host/rtt_estimator.h"

namespace tributary::host {

// What of the machines' behaviour is a choice. The same on all ranks, but for `attempts_max`: each
// leader has its own.
struct CanaryTuning {
  // How often a block is reduced in the network before the hosts do it; 1 to 15.
  unsigned attempts_max = 4;
  // Whether the hosts reduce a block themselves when the network could not; otherwise that is an
  // error.
  bool host_fallback = true;
  // Whether a rank has fewer blocks open than the window where queues are congested.
  bool congestion_control = true;
  // Bytes of a collective up to which a leader keeps a copy of its results until the next one;
  // larger ones end with a block that tells that all have finished (3.3).
  std::size_t implicit_release_max = 256 * 1024;
  RtoBounds rto;  // of a worker's timer
};

}  // namespace tributary::host
