// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "host/error.h"
#include "host/transport/datagram_socket.h"
#include "wire/ip_address.h"

namespace tributary::host {

// Opens a UDP socket on the first free Canary port of a local address, and others that send for it,
// one for each wire::flow_of(), so that source ports tell blocks apart. The CRC of the Canary
// header covers the packet, and every aggregating hop renews it. `tos` has the
// codepoint and ECN.
Result<DatagramSocket> open_canary_socket(const wire::IpAddress& local, std::uint8_t tos);

}  // namespace tributary::host
