// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "wire/cursor.h"
#include "wire/element.h"
#include "wire/encapsulation.h"
#include "wire/endian.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/key.h"
#include "wire/parse_error.h"
#include "wire/sealed.h"

namespace tributary::wire {

namespace ethertype {
inline constexpr std::uint16_t canary = 0x88b5;  // IEEE 802 local experimental EtherType 1
}

// Tells what a Canary packet is for. The paper tells the phases apart by the multicast bit alone.
enum class CanaryKind : std::uint8_t {
  contribution = 1,  // towards the leader (reduce phase, 3.1.1)
  result = 2,        // down the recorded children (broadcast phase, 3.1.2)
  restoration = 3,   // from the leader to a switch that had a collision (tree restoration, 3.2.1)
  // These are for loss and faults (3.3).
  request = 4,  // retransmission request of a worker to the leader
  failure = 5,  // from the leader to a worker: contribute again, under the id given
  pending = 6,  // from the leader to a worker that asked: wait; the payload lists missing ranks
  release = 7,  // down the recorded children: this id will have no result
};

// This is the header of "Canary: Congestion-Aware In-Network Allreduce Using Dynamic Trees": first
// the 19 bytes of section 4.1, then Tributary's extension. Integers are big-endian, elements
// little-endian. docs/reference/wire/canary.md describes every byte.
struct [[gnu::packed]] CanaryHeader {
  // These are the fields of section 4.1.
  Ipv4Address destination;  // leader; for result and restoration the host or switch addressed
  be32 id;                  // block of the job and attempt (low half of the concatenated id, 3.4)
  be16 counter;             // contributions summed up in this packet
  be16 hosts;               // hosts that take part, the leader included
  be32 children;            // collision: one-hot port; restoration: the same (see shard);
                            // request: sequence number behind the last block contributed to
  be16 switch_address;      // collision, restoration: the switch's 16-bit id
  std::uint8_t flags = 0;   // bypass, multicast; in the paper's padding congested, and the version

  // These are the fields of the extension.
  CanaryKind kind = CanaryKind::contribution;
  ElementType element_type = ElementType::f32;
  Operator op = Operator::sum;
  std::uint8_t unused = 0;    // 0
  std::uint8_t shard = 0;     // `children` covers ports 32 * shard .. 32 * shard + 31 (4.2)
  be32 job;                   // the high half of the concatenated id (3.4)
  be16 elements;              // in the payload
  be16 child_port;            // UDP port of the child; 0 directly over Ethernet
  be64 fingerprint;           // sum of the contributors' tags, modulo 2^64; the sender's own tag
                              // in request, failure and pending
  Ipv4Address child_address;  // who sent this packet last: a worker, or a switch that aggregates
  Ipv4Address switch_ipv4;    // collision, restoration: where the switch can be reached
  MacAddress child_mac;       // collision, restoration: the child's link-layer address
  be16 rank;                  // of the worker or leader that sends; no_rank once aggregated
  be32 payload_crc;           // CRC-32 over the payload
  be32 crc;                   // CRC-32 over the 60 bytes before it

  static constexpr std::uint8_t bypass_bit = 0x80;
  static constexpr std::uint8_t multicast_bit = 0x40;
  // This bit tells that a queue on the way of this packet, or of any that is added up in it or that
  // it answers, was congested.
  static constexpr std::uint8_t congested_bit = 0x20;
  static constexpr std::uint8_t version_mask = 0x1f;
  static constexpr std::uint8_t current_version = 2;
  static constexpr std::uint16_t no_rank = 0xffff;
  static constexpr std::uint32_t ports_per_shard = 32;

  constexpr bool bypass() const { return (flags & bypass_bit) != 0; }
  constexpr bool multicast() const { return (flags & multicast_bit) != 0; }
  constexpr bool congested() const { return (flags & congested_bit) != 0; }
  constexpr std::uint8_t version() const { return flags & version_mask; }
  // Returns application identifier and block identifier, concatenated (3.4).
  constexpr std::uint64_t key() const { return (std::uint64_t{job.value()} << 32) | id.value(); }
};
static_assert(sizeof(CanaryHeader) == 64 && alignof(CanaryHeader) == 1);

// An id is the attempt (4 bits) and the block's sequence number in the job (28 bits, which wrap). A
// block that failed is reduced again under a new id (3.3): the same sequence number, the next
// attempt. To a switch that is another block.
inline constexpr std::uint32_t canary_sequence_bits = 28;
inline constexpr std::uint32_t canary_sequence_mask = (1u << canary_sequence_bits) - 1;
// A block of this attempt is not reduced in the network any more: contributions go past the
// switches to the leader.
inline constexpr std::uint32_t canary_direct_attempt = 15;
constexpr std::uint32_t canary_id(std::uint32_t sequence, std::uint32_t attempt) {
  return (attempt << canary_sequence_bits) | (sequence & canary_sequence_mask);
}
constexpr std::uint32_t canary_sequence(std::uint32_t id) {
  return id & canary_sequence_mask;
}
constexpr std::uint32_t canary_attempt(std::uint32_t id) {
  return id >> canary_sequence_bits;
}

// These UDP destination ports mean Canary; the range lets several workers share one host. They are
// below Linux's ephemeral ports.
inline constexpr std::uint16_t canary_udp_port_first = 17000;
inline constexpr std::uint16_t canary_udp_port_last = 17255;
constexpr bool is_canary_udp_port(std::uint16_t port) {
  return port >= canary_udp_port_first && port <= canary_udp_port_last;
}

// This is the destination MAC of Canary directly over Ethernet from a host: "the next Tributary
// switch". It is a locally administered group address.
inline constexpr MacAddress canary_group_mac{{0x03, 'C', 'a', 'n', 'r', 'y'}};

using CanaryError = ParseError;

struct CanaryView {
  CanaryError error = CanaryError::truncated;
  CanaryHeader* header = nullptr;  // set whenever 64 bytes were there; trust it if error == none
  MutableBytes payload;            // elements * element_bytes; empty unless error == none
};

// Checks every field and both CRCs. `bytes` is everything behind the UDP or Ethernet header.
CanaryView parse_canary(MutableBytes bytes, Encapsulation encapsulation);

// Returns the 64-bit key without further checks, for choosing the owning core; 0 if truncated.
inline std::uint64_t peek_canary_key(Bytes bytes) {
  const auto* header = Cursor(bytes).take<CanaryHeader>();
  return header == nullptr ? 0 : header->key();
}

// Addresses a sealed header, in which destination, child address and child port are zero, to a
// child. It stays sealed: CRC-32 is linear, so that of the whole changes by what that of these
// bytes is.
void address_to_child(CanaryHeader& header, Ipv4Address address, std::uint16_t port);

}  // namespace tributary::wire
