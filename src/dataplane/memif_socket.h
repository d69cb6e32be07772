// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "control/config.h"

namespace tributary::dataplane {

// What a port that may be a memif does with the socket by which peers find each other.
bool is_memif_server(const control::DeviceConfig& config);
bool is_memif_client(const control::DeviceConfig& config);

// Of a memif: somebody listens there.
bool is_served(const control::DeviceConfig& config);
// Of a memif: DPDK does not replace the socket of a server that was killed.
void remove_stale_socket(const control::DeviceConfig& config);

}  // namespace tributary::dataplane
