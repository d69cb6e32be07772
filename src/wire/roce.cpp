// SPDX-License-Identifier: BSD-3-Clause
#include "wire/roce.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "wire/checksum.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"

namespace tributary::wire {
namespace {

constexpr std::uint8_t covered_by_ones = 0xff;

// What routers change on the way counts as all ones.
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

}  // namespace

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
  assert(ip.size() >= sizeof(Ipv4Header) && transport.size() >= sizeof(BthHeader));
  constexpr std::size_t link_bytes = 8;  // of a local route header, all ones
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
  const auto head = crc32(0, Bytes(masked.data(), static_cast<std::size_t>(at - masked.data())));
  return crc32(head, transport.subspan(sizeof(BthHeader)));
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
