// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "host/error.h"
#include "host/transport/datagram_socket.h"
#include "wire/ipv4.h"

namespace tributary::host {

// Opens a UDP socket at RoCEv2's port of a local address, which only one endpoint can have. All
// that it sends has the same source port, and an IPv4 header without identification, checksum or
// fragments, so that all bytes that the ICRC covers are known.
Result<DatagramSocket> open_roce_socket(const wire::IpAddress& local, std::uint8_t tos);

}  // namespace tributary::host
