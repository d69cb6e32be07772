// SPDX-License-Identifier: BSD-3-Clause
#include "wire/checksum.h"

namespace tributary::wire {
namespace {

// Sums big-endian 16-bit words as native ones; RFC 1071 (section 2 B) shows that the result only
// has to be swapped once at the end.
std::uint64_t native_sum(Bytes bytes) {
  std::uint64_t sum = 0;
  std::size_t at = 0;
  for (; at + 4 <= bytes.size(); at += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    sum += word;
  }
  std::uint32_t tail = 0;
  if (at < bytes.size()) {
    std::memcpy(&tail, bytes.data() + at, bytes.size() - at);
  }
  return sum + tail;
}

std::uint16_t fold(std::uint64_t sum) {
  while ((sum >> 16) != 0) {
    sum = (sum & 0xffff) + (sum >> 16);
  }
  return byte_swap(static_cast<std::uint16_t>(sum));
}

std::uint64_t native_pseudo_sum(const Ipv4Header& ip, std::uint16_t l4_bytes) {
  struct [[gnu::packed]] Pseudo {
    Ipv4Address source;
    Ipv4Address destination;
    std::uint8_t zero = 0;
    std::uint8_t protocol;
    be16 length;
  };
  const Pseudo pseudo{ip.source, ip.destination, 0, ip.protocol, be16{l4_bytes}};
  return native_sum(std::as_bytes(std::span(&pseudo, 1)));
}

// It has addresses, length in 32 bits, and next header (RFC 8200, 8.1).
std::uint64_t native_pseudo_sum(const Ipv6Header& ip, std::uint32_t l4_bytes) {
  struct [[gnu::packed]] Pseudo {
    std::array<std::uint8_t, 16> source;
    std::array<std::uint8_t, 16> destination;
    be32 length;
    be32 next_header;
  };
  const Pseudo pseudo{ip.source, ip.destination, be32{l4_bytes}, be32{ip.next_header}};
  return native_sum(std::as_bytes(std::span(&pseudo, 1)));
}

}  // namespace

std::uint16_t internet_checksum(Bytes bytes) {
  return static_cast<std::uint16_t>(~fold(native_sum(bytes)));
}

std::uint16_t pseudo_header_sum(const Ipv4Header& ip, std::uint16_t l4_bytes) {
  return fold(native_pseudo_sum(ip, l4_bytes));
}

std::uint16_t transport_checksum(const Ipv4Header& ip, Bytes l4) {
  const auto sum = native_pseudo_sum(ip, static_cast<std::uint16_t>(l4.size())) + native_sum(l4);
  return static_cast<std::uint16_t>(~fold(sum));
}

std::uint16_t pseudo_header_sum(const Ipv6Header& ip, std::uint32_t l4_bytes) {
  return fold(native_pseudo_sum(ip, l4_bytes));
}

std::uint16_t transport_checksum(const Ipv6Header& ip, Bytes l4) {
  const auto sum = native_pseudo_sum(ip, static_cast<std::uint32_t>(l4.size())) + native_sum(l4);
  return static_cast<std::uint16_t>(~fold(sum));
}

}  // namespace tributary::wire
