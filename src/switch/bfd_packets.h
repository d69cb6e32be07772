// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "engine/frame.h"
#include "packet/packet.h"
#include "switch/icmp6.h"
#include "wire/bfd.h"
#include "wire/ip_address.h"

namespace tributary::switching {

// These are BFD control packets of a single hop in UDP (RFC 5881), over either version of IP.

// The UDP port tells a BFD packet. Over IPv6, UDP has to follow the fixed header: nobody has a
// reason to send extension headers to a neighbour.
bool is_bfd(const engine::Frame& frame);
bool is_bfd(const Datagram6& datagram);

// A session needs to know this of a packet for which is_bfd() is true.
struct BfdArrival {
  wire::IpAddress source;
  std::uint8_t hops_left = 0;               // TTL, or hop limit
  const wire::BfdHeader* header = nullptr;  // in the packet; null: damaged or refused
};
BfdArrival bfd_of(const engine::Frame& frame);
// A packet without a checksum counts as damaged (RFC 8200, 8.1).
BfdArrival bfd_of(const Datagram6& datagram);

// A packet goes from `source` to `destination`, and has the version of IP of the latter.
struct BfdPath {
  wire::IpAddress source;
  wire::IpAddress destination;
  std::uint16_t source_port = 0;
};
// Writes a whole frame, but for its link-layer addresses, into an empty packet. Returns false if
// the packet has no room.
bool make_bfd(Packet& packet, const BfdPath& path, const wire::BfdHeader& header);

}  // namespace tributary::switching
