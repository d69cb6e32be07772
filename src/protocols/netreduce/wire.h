// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "wire/cursor.h"
#include "wire/element.h"
#include "wire/endian.h"
#include "wire/roce.h"

namespace tributary::wire {

// The INA header of "In-Network Aggregation with Transport Transparency for Distributed Training"
// (NetReduce) heads a gradient message, in front of its elements. The transport below cuts the
// message into packets and knows nothing of it; only the first packet has the header. Integers are
// big-endian, elements little-endian. docs/reference/wire/netreduce.md describes every byte.
struct [[gnu::packed]] InaHeader {
  be32 tag;      // current_tag: the paper's InetTag
  be32 ring;     // RingID
  be32 message;  // MsgID, from 0 in each run
  be32 length;   // MsgLen in bytes: header, elements and fingerprint words
  be32 run;      // drawn by the job when it begins to count messages
  be16 packets;  // MsgLen in packets
  be16 rank;     // of the sender in the ring
  be16 world;    // ranks in the ring
  ElementType element_type = ElementType::f32;
  Operator op = Operator::sum;
  std::uint8_t version = current_version;
  std::uint8_t unused[3] = {};

  static constexpr std::uint32_t current_tag = 0x494e4154;  // "INAT"
  static constexpr std::uint8_t current_version = 1;
};
static_assert(sizeof(InaHeader) == 32 && alignof(InaHeader) == 1);

// The last eight bytes of the payload of *every* packet of a gradient message are its fingerprint
// word: a tag of rank, message and packet that switches add up as they add up elements, modulo
// 2^64. It is little-endian.
inline constexpr std::size_t fingerprint_bytes = 8;

// Payload bytes of a gradient packet are a multiple of this. No element is ever cut: where one of
// 16 bytes does not fit any more, zeros are in front of the word.
inline constexpr std::size_t ina_alignment = 8;

inline std::uint64_t load_fingerprint(Bytes payload) {
  std::uint64_t word = 0;
  std::memcpy(&word, payload.last(fingerprint_bytes).data(), sizeof word);
  return word;
}
inline void store_fingerprint(MutableBytes payload, std::uint64_t word) {
  std::memcpy(payload.last(fingerprint_bytes).data(), &word, sizeof word);
}

// Returns the packets of a message whose packets carry `mtu` payload bytes, but for the last.
constexpr std::uint32_t ina_packets(std::uint32_t length, std::uint32_t mtu) {
  return length / mtu + (length % mtu != 0 ? 1 : 0);
}
// Returns the payload bytes of one of them.
constexpr std::uint32_t ina_payload_bytes(std::uint32_t length, std::uint32_t mtu,
                                          std::uint32_t packet) {
  const auto before = packet * mtu;
  return length - before < mtu ? length - before : mtu;
}

// Hosts and switches must think alike of these limits of a ring: the window in messages, the
// packets of a message, the ranks, and the packets that a switch may hold (of both windows, from
// all ranks).
inline constexpr std::uint16_t ring_window_max = 64;
inline constexpr std::uint16_t ring_message_packets_max = 8192;
inline constexpr std::array<std::uint16_t, 5> ring_mtus = {256, 512, 1024, 2048, 4096};  // of RDMA
inline constexpr std::size_t ring_members_max = 64;
inline constexpr std::size_t ring_slots_max = 65536;

// Returns the largest path MTU of RDMA that is not above `bytes`; 0 where there is none.
constexpr std::uint32_t ring_mtu_within(std::size_t bytes) {
  std::uint32_t within = 0;
  for (const auto mtu : ring_mtus) {
    within = mtu <= bytes ? mtu : within;
  }
  return within;
}
constexpr bool is_ring_mtu(std::size_t bytes) {
  return bytes != 0 && ring_mtu_within(bytes) == bytes;
}

// The packet sequence numbers of a rank begin so far from those of the run before. Ranks that
// search for a path MTU make a run with each, one after another.
inline constexpr std::uint32_t psns_between_runs = 1u << 20;
// A packet that provokes a NAK has a number so far from its own. However late it comes, it is not
// what a receiver expects: no run of a search reaches it, and another begins half of a run's
// numbers before or behind it. All take it to be ahead, as it is less than half of all numbers
// away, even if its own number is ahead by as many as a run has.
inline constexpr std::uint32_t provoking_distance = 13 * psns_between_runs / 2;
static_assert(provoking_distance > ring_mtus.size() * psns_between_runs);
static_assert(provoking_distance % psns_between_runs == psns_between_runs / 2);
static_assert(provoking_distance + psns_between_runs <= psn_mask / 2);

// Returns the header of a message whose first packet has this payload; null where there is none.
inline const InaHeader* peek_ina(Bytes payload) {
  const auto* header = Cursor(payload).take<InaHeader>();
  return header != nullptr && header->tag.value() == InaHeader::current_tag ? header : nullptr;
}

// Returns whether the fields of a header agree with each other, with its version and with packets
// of `mtu` payload bytes. What only a ring's configuration tells is not judged.
bool is_sound(const InaHeader& header, std::uint32_t mtu);

}  // namespace tributary::wire
