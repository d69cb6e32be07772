// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "wire/cursor.h"
#include "wire/ipv4.h"

namespace tributary::wire {

// The Internet checksum (RFC 1071) of `bytes`, as it is stored in a header; 0 over a header whose
// checksum field is right.
std::uint16_t internet_checksum(Bytes bytes);

// The folded, uncomplemented sum of the TCP/UDP pseudo-header: what a kernel leaves in the checksum
// field of a packet whose checksum it expects hardware to finish (CHECKSUM_PARTIAL on veth, TAP).
std::uint16_t pseudo_header_sum(const Ipv4Header& ip, std::uint16_t l4_bytes);

// The checksum of a TCP or UDP segment (`l4` from its header on) under its pseudo-header.
std::uint16_t transport_checksum(const Ipv4Header& ip, Bytes l4);

// Fills in the header checksum.
void finish_ipv4(Ipv4Header& ip);

// RFC 1624: the checksum after a 16-bit word of the header changed.
std::uint16_t update_checksum(std::uint16_t checksum, std::uint16_t before, std::uint16_t after);

// CRC-32 (IEEE 802.3, reflected, as zlib): continue from `crc`, start with 0.
std::uint32_t crc32(std::uint32_t crc, Bytes bytes);

}  // namespace tributary::wire
