// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "packet/packet.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/transport.h"

namespace tributary::engine {

// Where the headers of one frame lie, found once when it enters a switch. Code behind the parser
// never sees an unchecked header: what is not there, or not whole, is null.
struct Frame {
  wire::EthernetHeader* ethernet = nullptr;
  wire::Ipv4Header* ipv4 = nullptr;  // version, lengths checked; header checksum not
  wire::UdpHeader* udp = nullptr;    // set for unfragmented UDP whose length fits
  wire::MutableBytes payload;        // behind the innermost header that is set
};

// Parses `packet`. An IPv4 packet with impossible lengths has ethernet set and ipv4 null.
Frame parse_frame(Packet& packet);

}  // namespace tributary::engine
