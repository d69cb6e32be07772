// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "host/error.h"
#include "host/transport/datagram_socket.h"
#include "wire/ip_address.h"
#include "wire/ipv4.h"

namespace tributary::host {

// Opens a UDP socket that is a member of multicast groups on the interface of a local address, at
// PANAMA's port, which jobs on one host share, and others that send, one to each group. What is
// sent has a source port that follows from the job and the tree, if it is free, and asks for
// PANAMA's treatment (DSCP 56).
Result<DatagramSocket> open_panama_socket(const wire::IpAddress& local,
                                          const std::vector<wire::Ipv4Address>& groups,
                                          std::uint32_t job);

}  // namespace tributary::host
