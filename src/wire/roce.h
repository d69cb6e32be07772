// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "wire/cursor.h"
#include "wire/endian.h"
#include "wire/transport.h"

// RoCEv2 is the transport of InfiniBand over UDP (InfiniBand Architecture Specification, volume 1,
// chapter 9 and annex A17). Only what Reliable Connections put on the line is here.
namespace tributary::wire {

inline constexpr std::uint16_t roce_udp_port = 4791;

// This is a 24-bit unsigned integer, big-endian.
class [[gnu::packed]] be24 {
 public:
  constexpr be24() = default;
  constexpr explicit be24(std::uint32_t value)
      : octets_{static_cast<std::uint8_t>(value >> 16), static_cast<std::uint8_t>(value >> 8),
                static_cast<std::uint8_t>(value)} {}
  constexpr be24& operator=(std::uint32_t value) { return *this = be24(value); }
  constexpr std::uint32_t value() const {
    return (std::uint32_t{octets_[0]} << 16) | (std::uint32_t{octets_[1]} << 8) | octets_[2];
  }

 private:
  std::array<std::uint8_t, 3> octets_{};
};
static_assert(sizeof(be24) == 3 && alignof(be24) == 1);

// Packet sequence numbers count modulo 2^24.
inline constexpr std::uint32_t psn_mask = 0xffffff;
constexpr std::uint32_t psn_add(std::uint32_t psn, std::uint32_t packets) {
  return (psn + packets) & psn_mask;
}
// Returns how far `psn` is ahead of `from`, going forward only.
constexpr std::uint32_t psn_distance(std::uint32_t from, std::uint32_t psn) {
  return (psn - from) & psn_mask;
}

// The upper three bits of an opcode are the service, 0 for Reliable Connections.
enum class RoceOpcode : std::uint8_t {
  send_first = 0x00,
  send_middle = 0x01,
  send_last = 0x02,
  send_last_immediate = 0x03,
  send_only = 0x04,
  send_only_immediate = 0x05,
  write_first = 0x06,
  write_middle = 0x07,
  write_last = 0x08,
  write_last_immediate = 0x09,
  write_only = 0x0a,
  write_only_immediate = 0x0b,
  read_request = 0x0c,
  acknowledge = 0x11,
  compare_swap = 0x13,
  fetch_add = 0x14,
  send_last_invalidate = 0x16,
  send_only_invalidate = 0x17,
};

// Returns whether the requester of a Reliable Connection sends this, all of it in the order of its
// sequence numbers. Everything else answers a request, or is of another service.
constexpr bool is_request(RoceOpcode opcode) {
  return opcode <= RoceOpcode::read_request || opcode == RoceOpcode::compare_swap ||
         opcode == RoceOpcode::fetch_add || opcode == RoceOpcode::send_last_invalidate ||
         opcode == RoceOpcode::send_only_invalidate;
}

// A RocePosition is where a packet of SEND or RDMA WRITE stands in its message.
enum class RocePosition : std::uint8_t { none, first, middle, last, only };

constexpr RocePosition position_of(RoceOpcode opcode) {
  switch (opcode) {
    case RoceOpcode::send_first:
    case RoceOpcode::write_first:
      return RocePosition::first;
    case RoceOpcode::send_middle:
    case RoceOpcode::write_middle:
      return RocePosition::middle;
    case RoceOpcode::send_last:
    case RoceOpcode::send_last_immediate:
    case RoceOpcode::write_last:
    case RoceOpcode::write_last_immediate:
      return RocePosition::last;
    case RoceOpcode::send_only:
    case RoceOpcode::send_only_immediate:
    case RoceOpcode::write_only:
    case RoceOpcode::write_only_immediate:
      return RocePosition::only;
    default:
      return RocePosition::none;
  }
}
constexpr bool begins_message(RocePosition position) {
  return position == RocePosition::first || position == RocePosition::only;
}
constexpr bool ends_message(RocePosition position) {
  return position == RocePosition::last || position == RocePosition::only;
}
constexpr bool has_reth(RoceOpcode opcode) {
  return opcode == RoceOpcode::write_first || opcode == RoceOpcode::write_only ||
         opcode == RoceOpcode::write_only_immediate;
}
constexpr bool has_immediate(RoceOpcode opcode) {
  return opcode == RoceOpcode::send_last_immediate || opcode == RoceOpcode::send_only_immediate ||
         opcode == RoceOpcode::write_last_immediate || opcode == RoceOpcode::write_only_immediate;
}

// Base Transport Header (9.2).
struct [[gnu::packed]] BthHeader {
  RoceOpcode opcode = RoceOpcode::send_only;
  std::uint8_t flags = 0;  // solicited event, migration, pad count (2), version (4)
  be16 partition{0xffff};
  std::uint8_t congestion = 0;  // FECN, BECN, reserved: not covered by the ICRC
  be24 destination_qp;
  std::uint8_t acknowledge = 0;  // request for an acknowledgement, reserved
  be24 psn;

  static constexpr std::uint8_t acknowledge_bit = 0x80;
  constexpr std::uint8_t pad() const { return (flags >> 4) & 3; }
  constexpr std::uint8_t version() const { return flags & 0xf; }
};
static_assert(sizeof(BthHeader) == 12 && alignof(BthHeader) == 1);

// RDMA Extended Transport Header (9.3.3).
struct [[gnu::packed]] RethHeader {
  be64 address;
  be32 key;
  be32 length;
};
static_assert(sizeof(RethHeader) == 16 && alignof(RethHeader) == 1);

// ACK Extended Transport Header (9.3.5).
struct [[gnu::packed]] AethHeader {
  std::uint8_t syndrome = 0;  // kind (bits 6-5: 0 ACK, 1 RNR NAK, 3 NAK), credits or code
  be24 msn;

  static constexpr std::uint8_t nak_sequence_error = 0x60;
  constexpr bool is_nak() const { return (syndrome & 0x60) == 0x60; }
};
static_assert(sizeof(AethHeader) == 4 && alignof(AethHeader) == 1);

struct [[gnu::packed]] ImmediateHeader {
  be32 data;
};
static_assert(sizeof(ImmediateHeader) == 4 && alignof(ImmediateHeader) == 1);

inline constexpr std::size_t icrc_bytes = 4;

// A RoceView is one packet of SEND or RDMA WRITE over a Reliable Connection. The headers are null
// where the opcode has none.
struct RoceView {
  BthHeader* bth = nullptr;  // null: no such packet, or its lengths are impossible
  RethHeader* reth = nullptr;
  ImmediateHeader* immediate = nullptr;
  MutableBytes payload;  // without pad
  std::byte* icrc = nullptr;

  RocePosition position() const { return position_of(bth->opcode); }
};

// `bytes` is everything behind the UDP header. The ICRC is not looked at.
RoceView parse_roce(MutableBytes bytes);

// Returns the ICRC of the packet that these headers belong to. `ip` is the IPv4 (with its options)
// or IPv6 header and what is between it and the UDP header; `transport` is what follows that, up to
// the ICRC.
std::uint32_t icrc_of(Bytes ip, const UdpHeader& udp, Bytes transport);
// Returns the ICRC's state at the end of the BTH, where IPv4 without options, UDP and BTH begin at
// `headers` and lie one behind the other; crc32() continues it over the rest.
std::uint32_t crc_of_ipv4_headers(const std::byte* headers);

// The ICRC at the end of a packet is the one number of RoCE that is little-endian.
std::uint32_t load_icrc(const std::byte* at);
void store_icrc(std::byte* at, std::uint32_t icrc);

}  // namespace tributary::wire
