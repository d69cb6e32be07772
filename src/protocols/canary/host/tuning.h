// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "host/rtt_estimator.h"

namespace tributary::host {

// These are the choices in how the machines behave. They are the same on all ranks, but for
// `attempts_max`: each leader has its own.
struct CanaryTuning {
  // A block is reduced so often in the network before the hosts do it; 1 to 15.
  unsigned attempts_max = 4;
  // On: the hosts reduce a block themselves when the network could not. Off: that is an error.
  bool host_fallback = true;
  // On: a rank has fewer blocks open than the window where queues are congested.
  bool congestion_control = true;
  // A leader keeps a copy of its results of a collective of up to so many bytes until the next one;
  // larger ones end with a block that tells that all have finished (3.3).
  std::size_t implicit_release_max = 256 * 1024;
  RtoBounds rto;  // of a worker's timer
};

}  // namespace tributary::host
