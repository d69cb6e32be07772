// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "engine/frame.h"
#include "packet/packet.h"
#include "switch/icmp6.h"
#include "wire/bfd.h"
#include "wire/ip_address.h"

namespace tributary::switching {

// BFD control packets of a single hop in UDP (RFC 5881), over either version of IP.

// A packet of it, by its port. Over IPv6, UDP follows the fixed header: nobody has a reason to send
// a neighbour extension headers.
bool is_bfd(const engine::Frame& frame);
bool is_bfd(const Datagram6& datagram);

// What a session needs to know of a packet that is_bfd() is true for.
struct BfdArrival {
  wire::IpAddress source;
  std::uint8_t hops_left = 0;               // TTL, or hop limit
  const wire::BfdHeader* header = nullptr;  // in the packet; null: damaged, or refused
};
BfdArrival bfd_of(const engine::Frame& frame);
// Without a checksum it is damaged (RFC 8200, 8.1).
BfdArrival bfd_of(const Datagram6& datagram);

// From where to where, in the version of the destination.
struct BfdPath {
  wire::IpAddress source;
  wire::IpAddress destination;
  std::uint16_t source_port = 0;
};
// Writes a whole frame, but for its link-layer addresses, into an empty packet. False: it has no
// room.
bool make_bfd(Packet& packet, const BfdPath& path, const wire::BfdHeader& header);

}  // namespace tributary::switching
