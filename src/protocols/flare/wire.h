// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "wire/cursor.h"
#include "wire/element.h"
#include "wire/endian.h"
#include "wire/key.h"
#include "wire/parse_error.h"
#include "wire/sealed.h"

namespace tributary::wire {

enum class FlareKind : std::uint8_t {
  contribution = 1,  // up the reduction tree: elements of one rank, or the sum of some
  result = 2,        // down the tree to its multicast group; up, for a switch that has forgotten it
  inquiry = 3,       // to whoever may have a block's result or its elements; without elements
  refusal = 4,       // down, to the child whose contribution cannot be in its block, of which it
                     // tells type and operator; without elements
};

// This is the packet of "Flare: Flexible In-Network Allreduce" (section 4): "a small header
// containing the identifier of the allreduce and of the packet within that allreduce". The paper
// gives no layout; this one is Tributary's. It follows IPv4 and UDP, and is addressed to the
// multicast group of its reduction tree in both directions. Integers are big-endian, elements
// little-endian. docs/reference/wire/flare.md describes every byte.
struct [[gnu::packed]] FlareHeader {
  be32 job;    // the identifier of the allreduce: one per communicator
  be32 run;    // the same for all ranks that met, and drawn anew at each meeting
  be64 block;  // number of the reduction block, from 0 in each run, through all its collectives
  std::uint8_t flags = 0;  // retransmission, answer, version
  FlareKind kind = FlareKind::contribution;
  ElementType element_type = ElementType::f32;
  Operator op = Operator::sum;
  be16 elements;       // in the payload; 0: a block of a barrier
  be16 contributions;  // ranks whose elements are in this packet
  be16 workers;        // ranks of the job
  be16 window;         // blocks in flight per rank (4.3), the same for all packets of a run
  be64 fingerprint;  // sum of the contributors' tags, modulo 2^64; of a refusal, the refused one's
  be32 payload_crc;  // CRC-32 over the payload
  be32 crc;          // CRC-32 over the 40 bytes before it

  // The packet was sent before: whoever has the result already answers with it.
  static constexpr std::uint8_t retransmission_bit = 0x40;
  // The packet is sent because an inquiry came: nobody is asked for what it lacks.
  static constexpr std::uint8_t answer_bit = 0x20;
  static constexpr std::uint8_t version_mask = 0x1f;
  static constexpr std::uint8_t current_version = 1;

  constexpr bool retransmission() const { return (flags & retransmission_bit) != 0; }
  constexpr bool answers() const { return (flags & answer_bit) != 0; }
  // Returns whether a timeout had it sent again, to hear what became of the block.
  constexpr bool asks() const { return retransmission() && !answers(); }
  constexpr std::uint8_t version() const { return flags & version_mask; }
};
static_assert(sizeof(FlareHeader) == 44 && alignof(FlareHeader) == 1);

inline constexpr std::uint16_t flare_udp_port = 17257;

// A switch can be told to expect so many blocks in flight at most.
inline constexpr std::uint32_t flare_window_max = 4096;

// A switch keeps a tree's blocks in so many slots, by the low bits of their numbers: two windows or
// more.
constexpr std::uint32_t flare_slots(std::uint32_t window) {
  return std::bit_ceil(2 * window);
}

// Blocks of a job are spread over so many flows at most, each of which meets on one core. All
// blocks of one slot are of one flow.
inline constexpr std::uint32_t flare_flows = 64;
constexpr std::uint32_t flare_flow_of(std::uint64_t block, std::uint32_t window) {
  return static_cast<std::uint32_t>(block) & (std::min(flare_slots(window), flare_flows) - 1);
}

// Returns what all packets of a block have in common, for choosing the owning core and the UDP
// source port.
constexpr std::uint64_t flare_key(std::uint32_t job, std::uint32_t flow) {
  return (std::uint64_t{job} << 32) | flow;
}

inline std::uint32_t flare_flow_of(const FlareHeader& header) {
  return flare_flow_of(header.block.value(), header.window.value());
}

using FlareError = ParseError;

struct FlareView {
  FlareError error = FlareError::truncated;
  FlareHeader* header = nullptr;  // set whenever 44 bytes were there; trust it if error == none
  MutableBytes payload;           // elements * element_bytes; empty unless error == none
};

// Checks every field and both CRCs. `bytes` is everything behind the UDP header.
FlareView parse_flare(MutableBytes bytes);

// Returns the flare_key() of the packet's block without further checks; 0 if truncated.
inline std::uint64_t peek_flare_key(Bytes bytes) {
  const auto* header = Cursor(bytes).take<FlareHeader>();
  return header == nullptr ? 0 : flare_key(header->job.value(), flare_flow_of(*header));
}

}  // namespace tributary::wire
