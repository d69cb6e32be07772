// SPDX-License-Identifier: BSD-3-Clause
#include "wire/roce.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "wire/crc32.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"

namespace tributary::wire {
namespace {

constexpr std::uint8_t covered_by_ones = 0xff;

// The ICRC counts what routers change on the way as all ones.
void mask_ip(std::byte* ip) {
  if ((std::to_integer<unsigned>(ip[0]) >> 4) == 4) {
    auto& header = *reinterpret_cast<Ipv4Header*>(ip);
    header.tos = covered_by_ones;
    header.ttl = covered_by_ones;
    header.checksum = std::uint16_t{0xffff};
  } else {
    auto& header = *reinterpret_cast<Ipv6Header*>(ip);
    header.version_class_flow = {0x6f, 0xff, 0xff, 0xff};
    header.hop_limit = covered_by_ones;
  }
}

constexpr std::size_t link_bytes = 8;  // of a local route header, all ones

// Returns the CRC of everything up to the end of the BTH, with which `transport` begins.
std::uint32_t crc_of_any_headers(Bytes ip, const UdpHeader& udp, Bytes transport) {
  constexpr std::size_t ip_bytes_max = 60;
  std::array<std::byte, link_bytes + ip_bytes_max + sizeof(UdpHeader) + sizeof(BthHeader)> masked;
  std::memset(masked.data(), covered_by_ones, link_bytes);
  auto* at = masked.data() + link_bytes;
  const auto ip_bytes = std::min(ip.size(), ip_bytes_max);
  std::memcpy(at, ip.data(), ip_bytes);
  mask_ip(at);
  at += ip_bytes;
  auto masked_udp = udp;
  masked_udp.checksum = std::uint16_t{0xffff};
  std::memcpy(at, &masked_udp, sizeof masked_udp);
  at += sizeof masked_udp;
  BthHeader bth;
  std::memcpy(&bth, transport.data(), sizeof bth);
  bth.congestion = covered_by_ones;
  std::memcpy(at, &bth, sizeof bth);
  at += sizeof bth;
  return crc32(0, Bytes(masked.data(), static_cast<std::size_t>(at - masked.data())));
}

std::uint32_t crc_of_headers(Bytes ip, const UdpHeader& udp, Bytes transport) {
  assert(ip.size() >= sizeof(Ipv4Header) && transport.size() >= sizeof(BthHeader));
  const auto* behind_ip = reinterpret_cast<const std::byte*>(&udp);
  const bool is_whole = ip.size() == sizeof(Ipv4Header) && ip.data() + ip.size() == behind_ip &&
                        transport.data() == behind_ip + sizeof udp;
  return is_whole ? crc_of_ipv4_headers(ip.data()) : crc_of_any_headers(ip, udp, transport);
}

}  // namespace

// The headers are as in every packet that was received. They are masked in words, because bytes
// that were just written are slow to read as words.
std::uint32_t crc_of_ipv4_headers(const std::byte* headers) {
  constexpr std::uint64_t ones[] = {0xff00,            // traffic class
                                    0xffff00ff,        // TTL, checksum
                                    0, 0xffff0000,     // UDP checksum
                                    covered_by_ones};  // congestion
  constexpr std::size_t words = std::size(ones);
  static_assert(sizeof(Ipv4Header) + sizeof(UdpHeader) + sizeof(BthHeader) == words * 8);
  std::array<std::uint64_t, 1 + words> masked;
  masked[0] = ~std::uint64_t{0};
  for (std::size_t i = 0; i < words; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, headers + i * sizeof word, sizeof word);
    masked[1 + i] = word | ones[i];
  }
  return crc32(0, std::as_bytes(std::span(masked)));
}

RoceView parse_roce(MutableBytes bytes) {
  MutableCursor cursor(bytes);
  auto* bth = cursor.take<BthHeader>();
  if (bth == nullptr || position_of(bth->opcode) == RocePosition::none || bth->version() != 0) {
    return {};
  }
  RoceView view;
  if (has_reth(bth->opcode) && (view.reth = cursor.take<RethHeader>()) == nullptr) {
    return {};
  }
  if (has_immediate(bth->opcode) && (view.immediate = cursor.take<ImmediateHeader>()) == nullptr) {
    return {};
  }
  const auto rest = cursor.rest();
  if (rest.size() < icrc_bytes + bth->pad()) {
    return {};
  }
  view.bth = bth;
  view.icrc = rest.data() + rest.size() - icrc_bytes;
  view.payload = rest.first(rest.size() - icrc_bytes - bth->pad());
  return view;
}

std::uint32_t icrc_of(Bytes ip, const UdpHeader& udp, Bytes transport) {
  return crc32(crc_of_headers(ip, udp, transport), transport.subspan(sizeof(BthHeader)));
}

std::uint32_t load_icrc(const std::byte* at) {
  std::uint32_t icrc = 0;
  std::memcpy(&icrc, at, sizeof icrc);
  return icrc;
}

void store_icrc(std::byte* at, std::uint32_t icrc) {
  std::memcpy(at, &icrc, sizeof icrc);
}

}  // namespace tributary::wire
