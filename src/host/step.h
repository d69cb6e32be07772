// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host/call.h"

namespace tributary::host {

// A collective that another one is made of. Its buffers are those of whoever has made it, and hold
// the result when the next one is asked for.
struct Step {
  Call call;
  bool by_ring = false;  // of the hosts, whatever carries the others
  bool needed = true;    // otherwise it is left out, and only counted, on all ranks alike
};

}  // namespace tributary::host
