// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "host/clock.h"
#include "wire/cursor.h"

namespace tributary::host {

// Has what a neighbour gets last, which says why this rank goes no further.
struct CubeEnding {
  int fd = -1;
  wire::Bytes left{};  // is still to be sent
};

// Sends them all side by side, so that no neighbour waits for one that does not listen. Returns
// when the neighbours' kernels have got everything, or have closed, or at `until`; then the sockets
// may be closed.
void send_endings(std::vector<CubeEnding> endings, Time until);

}  // namespace tributary::host
