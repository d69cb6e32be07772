// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "host/error.h"
#include "host/transport/datagram_socket.h"
#include "wire/ip_address.h"
#include "wire/ipv4.h"

namespace tributary::host {

// Returns the group of a reduction tree, from text.
Result<wire::Ipv4Address> flare_group_of(const std::string& text);

// Opens a UDP socket at Flare's port, which jobs on one host share, that hears nothing but the
// group of a reduction tree, on the interface of a local address; and others that send to it, one
// for each wire::flow_of(), so that source ports tell apart the blocks of different cores. Without
// a group it hears nothing.
Result<DatagramSocket> open_flare_socket(const wire::IpAddress& local,
                                         std::optional<wire::Ipv4Address> group, std::uint8_t tos);

}  // namespace tributary::host
