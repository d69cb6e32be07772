// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/socket.h>

namespace tributary::dataplane {

// As accept(), but nobody waits for what does not come on a memif connection. DPDK reads these on
// the one thread that all drivers share, when it was told that there is something: of a connection
// that was closed meanwhile, perhaps, whose number a new one has. It then waited for ever, and no
// port went up or down any more. Now such a reading fails, and the peer connects once more.
int accept_without_waiting(int socket, sockaddr* address, socklen_t* size);

}  // namespace tributary::dataplane
