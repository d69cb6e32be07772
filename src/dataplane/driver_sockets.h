// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <sys/socket.h>

namespace tributary::dataplane {

// As accept(), but nobody waits for what does not come on a memif connection. DPDK reads these on
// the one thread that all drivers share, when it was told that there is something: of a connection
// that was closed meanwhile, perhaps, whose number a new one has. It then waited for ever, and no
// port went up or down any more. Now such a reading fails, and the peer connects once more.
int accept_without_waiting(int socket, sockaddr* address, socklen_t* size);

// Ends whatever this process has of a Unix socket whose file is gone: who waits to be accepted is
// closed, and of who was accepted nothing more is read. DPDK listens on when a memif server is
// closed, and would serve these from memory that it has freed. The listener stays open: DPDK's
// interrupt thread, on which this is to be called, would end the process over one that is not.
void end_connections_at(const std::string& file);

}  // namespace tributary::dataplane
