// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "wire/cursor.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"

namespace tributary::wire {

// Returns the Internet checksum (RFC 1071) of `bytes`, as it is stored in a header; it is 0 over a
// header whose checksum field is right.
std::uint16_t internet_checksum(Bytes bytes);

// Returns the folded, uncomplemented sum of the TCP/UDP pseudo-header, which a kernel leaves in the
// checksum field of a packet whose checksum it expects hardware to finish (CHECKSUM_PARTIAL on
// veth, TAP).
std::uint16_t pseudo_header_sum(const Ipv4Header& ip, std::uint16_t l4_bytes);
std::uint16_t pseudo_header_sum(const Ipv6Header& ip, std::uint32_t l4_bytes);

// Returns the checksum of a TCP or UDP segment (`l4` from its header on) under its pseudo-header.
std::uint16_t transport_checksum(const Ipv4Header& ip, Bytes l4);
std::uint16_t transport_checksum(const Ipv6Header& ip, Bytes l4);

// Returns what the checksum field of an IPv4 header without options has to hold, whatever it holds
// now. Every packet passes here: there is no loop, and no store that the next load would have to
// wait for.
inline std::uint16_t ipv4_header_checksum(const Ipv4Header& ip) {
  std::array<std::uint32_t, sizeof(Ipv4Header) / sizeof(std::uint32_t)> words;
  std::memcpy(words.data(), &ip, sizeof words);
  // In the third word, TTL and protocol come before the field itself.
  std::uint64_t sum =
      std::uint64_t{words[0]} + words[1] + (words[2] & 0xffff) + std::uint64_t{words[3]} + words[4];
  sum = (sum & 0xffff) + ((sum >> 16) & 0xffff) + (sum >> 32);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  return byte_swap(static_cast<std::uint16_t>(~sum));
}

// Fills in the header checksum.
inline void finish_ipv4(Ipv4Header& ip) {
  ip.checksum = ipv4_header_checksum(ip);
}

// Returns the checksum after a 16-bit word of the header changed (RFC 1624).
inline std::uint16_t update_checksum(std::uint16_t checksum, std::uint16_t before,
                                     std::uint16_t after) {
  std::uint32_t sum = static_cast<std::uint16_t>(~checksum);
  sum += static_cast<std::uint16_t>(~before);
  sum += after;
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

// Returns the checksum after two words of the header that were zero became `filled`.
inline std::uint16_t fill_in_checksum(std::uint16_t checksum, std::uint32_t filled) {
  std::uint32_t sum = static_cast<std::uint16_t>(~checksum);
  sum += (filled >> 16) + (filled & 0xffff);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

}  // namespace tributary::wire
