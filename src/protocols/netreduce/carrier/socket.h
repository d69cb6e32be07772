// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host/error.h"
#include "host/transport/datagram_socket.h"
#include "wire/ipv4.h"

namespace tributary::host {

// A UDP socket at RoCEv2's port of a local address, which only one endpoint can have. What it sends
// has a source port that is the same, and an IPv4 header without identification, checksum or
// fragments: what the ICRC covers is known.
Result<DatagramSocket> open_roce_socket(wire::Ipv4Address local);

}  // namespace tributary::host
