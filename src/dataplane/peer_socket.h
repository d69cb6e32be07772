// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "control/config.h"
#include "control/socket_file.h"

namespace tributary::dataplane {

// What a port does with the Unix socket by which it finds its peer in another process, where it is
// of such a kind: a memif or a vhost that is the server makes it.
bool makes_socket(const control::DeviceConfig& config);
bool is_memif_client(const control::DeviceConfig& config);

// What a client of that socket finds; it follows symbolic links.
control::SocketFile look_at_peer(const std::string& socket);
// Of a port with a socket: somebody listens there.
bool is_served(const control::DeviceConfig& config);
// Of one that makes it: DPDK does not replace the socket of a server that was killed.
void remove_stale_socket(const control::DeviceConfig& config);
// Of a memif that was closed, if it was the last one of its socket: nobody is served any more. To
// be called on DPDK's interrupt thread, together with the closing.
void dismiss_clients(const control::DeviceConfig& config);

}  // namespace tributary::dataplane
