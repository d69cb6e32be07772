// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "packet/packet.h"
#include "wire/embedding_prefix.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/transport.h"

namespace tributary {

// Here UDP packets are translated from one version of IP to the other, where addresses of IPv6
// embed those of IPv4 (RFC 7915, 4.1 and 5.1): the traffic class is the type of service, and the
// hop limit the time to live. The flow label is lost: what becomes IPv6 has 0.

struct [[gnu::packed]] Ipv4Headers {
  wire::EthernetHeader ethernet;
  wire::Ipv4Header ip;
};
struct [[gnu::packed]] Ipv6Headers {
  wire::EthernetHeader ethernet;
  wire::Ipv6Header ip;
  wire::UdpHeader udp;
};

// A packet is so much longer over IPv6. There is headroom for it in all packets of a pool.
inline constexpr std::uint32_t ipv6_longer_by = sizeof(wire::Ipv6Header) - sizeof(wire::Ipv4Header);

// Returns the headers that a frame has over IPv4. No value: it is not a whole UDP datagram over
// IPv6, without extension headers, from an address with the prefix to another one or to a group
// that embeds one of IPv4.
std::optional<Ipv4Headers> headers_over_ipv4(const Packet& frame,
                                             const wire::EmbeddingPrefix& prefix);
// Gives a frame the headers that headers_over_ipv4() returned for it.
void become_ipv4(Packet& frame, const Ipv4Headers& headers);
// Returns the header over IPv6 of what has this one, and is UDP.
wire::Ipv6Header ipv6_header_of(const wire::Ipv4Header& ip, const wire::EmbeddingPrefix& prefix);
// Gives a frame, which is UDP over IPv4 without options, the headers that it has over IPv6.
void become_ipv6(Packet& frame, const wire::EmbeddingPrefix& prefix);

}  // namespace tributary
