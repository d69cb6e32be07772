// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/cursor.h"
#include "wire/element.h"
#include "wire/endian.h"
#include "wire/key.h"
#include "wire/multicast.h"
#include "wire/parse_error.h"
#include "wire/rank_mask.h"
#include "wire/sealed.h"

namespace tributary::wire {

// A job has no more trees than this: more than a network has disjoint roots; less than the groups
// that Linux lets a socket join.
inline constexpr std::size_t panama_trees_max = 16;

// No switch has more memory for packets; a cap beyond is none.
inline constexpr std::uint32_t panama_cap_max = 16384;

// A worker keeps at least so many results where they may lack somebody, for whoever comes late.
inline constexpr std::uint32_t panama_kept_min = 768;

// Where results may lack somebody, nobody goes on beyond so many epochs while a child has sent
// nothing in the first of them.
inline constexpr std::uint32_t panama_epochs_apart = 8;
// That child may lack what it sent last, in the epoch before. A worker is one epoch ahead of a
// switch that waits for the child; both remember so many.
inline constexpr std::uint32_t panama_epochs_kept = panama_epochs_apart + 2;

// A job whose results may lack somebody has no more ranks than this. The mask of those that are in
// a sum takes a twelfth of an Ethernet packet then, and more of it would be lost to elements.
inline constexpr std::uint32_t panama_masked_ranks_max = 1024;

enum class PanamaKind : std::uint8_t {
  aggregation = 1,  // up the tree: elements of one worker, or the sum of some
  result = 2,       // down the tree, to its multicast group; up, for whoever lacks it there
  inquiry = 3,      // to whoever may have a result or the elements for it; without elements
};

// This is the aggregation packet of "In-Network Aggregation for Shared Machine Learning Clusters"
// (PANAMA): the fields of Figure 4, then Tributary's extension. It follows IPv4 with DSCP 56 and
// UDP, and is addressed to the multicast group of its tree in both directions. Integers are
// big-endian, elements little-endian. Where results may lack somebody, the mask of the ranks in the
// sum is behind the elements. docs/reference/wire/panama.md describes every byte.
struct [[gnu::packed]] PanamaHeader {
  // These are the fields of Figure 4.
  be32 job;                // JID
  be16 tree;               // TID
  be16 wnd_cap;            // least memory for packets on the way up so far, in packets (4.2.2)
  be32 vid;                // number of the packet in its tree and epoch, from 0
  std::uint8_t flags = 0;  // FIN, retransmission, answer, mask, version

  // These are the fields of the extension.
  PanamaKind kind = PanamaKind::aggregation;
  ElementType element_type = ElementType::f32;
  Operator op = Operator::sum;
  be32 run;            // drawn anew whenever the ranks meet
  be32 epoch;          // number of the collective in its run; FIN ends it
  be16 elements;       // in the payload
  be16 contributions;  // workers whose elements are in this packet
  be16 workers;        // of the job
  be16 rank;           // of the worker that sends; no_rank once aggregated
  be64 fingerprint;    // sum of the contributors' tags, modulo 2^64
  be32 payload_crc;    // CRC-32 over the elements, and the mask behind them
  be32 crc;            // CRC-32 over the 44 bytes before it

  static constexpr std::uint8_t fin_bit = 0x80;
  // The packet is sent again after a timeout: whoever has the result already answers with it.
  static constexpr std::uint8_t retransmission_bit = 0x40;
  // The packet is sent because an inquiry or a repeat came. A contribution asks for nothing then,
  // and a result from below does not tell that its sender has all before it.
  static constexpr std::uint8_t answer_bit = 0x20;
  // A mask of the ranks in the sum is behind the elements, as somebody may be missing.
  static constexpr std::uint8_t mask_bit = 0x10;
  static constexpr std::uint8_t version_mask = 0x0f;
  static constexpr std::uint8_t current_version = 2;
  static constexpr std::uint16_t no_rank = 0xffff;
  // Packets that have passed no switch yet have this cap.
  static constexpr std::uint16_t wnd_cap_none = 0xffff;

  constexpr bool fin() const { return (flags & fin_bit) != 0; }
  constexpr bool retransmission() const { return (flags & retransmission_bit) != 0; }
  constexpr bool asks() const {
    return (flags & (retransmission_bit | answer_bit)) == retransmission_bit;
  }
  constexpr bool answers() const { return (flags & answer_bit) != 0; }
  constexpr bool has_mask() const { return (flags & mask_bit) != 0; }
  constexpr std::uint8_t version() const { return flags & version_mask; }

  constexpr std::size_t elements_bytes() const {
    return elements.value() * element_bytes(element_type);
  }
  constexpr std::size_t mask_bytes() const {
    return has_mask() ? rank_mask_bytes(workers.value()) : 0;
  }
  constexpr std::size_t payload_bytes() const { return elements_bytes() + mask_bytes(); }
};
static_assert(sizeof(PanamaHeader) == 48 && alignof(PanamaHeader) == 1);

inline constexpr std::uint8_t panama_dscp = 56;
inline constexpr std::uint16_t panama_udp_port = 17256;

// Returns what all packets of one tree have in common, for choosing the owning core and the UDP
// source port.
constexpr std::uint64_t panama_key(std::uint32_t job, std::uint16_t tree) {
  return (std::uint64_t{job} << 32) | tree;
}

using PanamaError = ParseError;

struct PanamaView {
  PanamaError error = PanamaError::truncated;
  PanamaHeader* header = nullptr;  // set whenever 48 bytes were there; trust it if error == none
  MutableBytes payload;            // elements * element_bytes; empty unless error == none
  RankMask mask;                   // of the ranks in the sum; empty if the packet has none
};

// Returns whether the mask has as many ranks as the packet has contributions, all of them the
// job's. `payload` is elements and mask.
bool is_sound_mask(const PanamaHeader& header, Bytes payload);

// Checks every field, both CRCs and the mask. `bytes` is everything behind the UDP header.
PanamaView parse_panama(MutableBytes bytes);

// Returns panama_key() without further checks; 0 if truncated.
inline std::uint64_t peek_panama_key(Bytes bytes) {
  const auto* header = Cursor(bytes).take<PanamaHeader>();
  return header == nullptr ? 0 : panama_key(header->job.value(), header->tree.value());
}

}  // namespace tributary::wire
