// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <sys/socket.h>

namespace tributary::dataplane {

// Accepts as accept() does, but nobody waits for what does not come on a memif connection. DPDK
// reads such connections on the one thread that all drivers share, when it was told that there is
// something: perhaps of a connection that was closed meanwhile, whose number a new one has. It then
// waited for ever, and no port went up or down any more. Now such a reading fails, and the peer
// connects once more.
int accept_without_waiting(int socket, sockaddr* address, socklen_t* size);

// Sends as sendmsg() does, but what cannot be sent on a memif connection because the peer has gone
// counts as sent. DPDK greets whoever connects. If that fails, it closes the connection, but still
// waits for messages on it, and ends the process when it finds it closed; so whoever connected and
// hung up at once ended a daemon. Now DPDK finds the end when it reads, as that of any peer.
ssize_t send_to_who_may_be_gone(int socket, const msghdr* message, int flags);

// Ends whatever this process has of a Unix socket whose file is gone: connections that wait to be
// accepted are closed, and of those that were accepted nothing more is read. DPDK listens on when a
// memif server is closed, and would serve these from memory that it has freed. The listener stays
// open: DPDK's interrupt thread, on which this is to be called, would end the process over a closed
// one.
void end_connections_at(const std::string& file);

}  // namespace tributary::dataplane
