// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "control/config.h"
#include "control/socket_file.h"

namespace tributary::dataplane {

// Some ports find their peer in another process by a Unix socket. A memif or a vhost that is the
// server makes it.
bool makes_socket(const control::DeviceConfig& config);
bool is_memif_client(const control::DeviceConfig& config);

// Returns what a client of that socket finds; it follows symbolic links.
control::SocketFile look_at_peer(const std::string& socket);
// Says whether somebody listens at the port's socket.
bool is_served(const control::DeviceConfig& config);
// The port makes its socket: DPDK does not replace that of a server that was killed.
void remove_stale_socket(const control::DeviceConfig& config);
// A memif was closed: if it was the last one of its socket, nobody is served any more. This is to
// be called on DPDK's interrupt thread, together with the closing.
void dismiss_clients(const control::DeviceConfig& config);

}  // namespace tributary::dataplane
