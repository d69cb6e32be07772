// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "protocols/flare/wire.h"
#include "wire/cursor.h"
#include "wire/element.h"
#include "wire/endian.h"
#include "wire/parse_error.h"
#include "wire/sealed.h"

namespace tributary::wire {

// Tells what stands behind the header of a shard.
enum class FlareForm : std::uint8_t {
  pairs = 0,  // (index, value): an offset in the block, of two bytes, and the element
  run = 1,    // the elements from `first` on, all of them
};

// This is the packet of Flare's sparse allreduce (section 7): one shard of what its sender has for
// a block. It begins as FlareHeader does, so that both meet on cores in the same way; a bit of the
// flags tells them apart. Blocks are numbered beside the dense ones, and have a window of their
// own. docs/reference/wire/flare.md describes every byte.
struct [[gnu::packed]] FlareSparseHeader {
  be32 job;
  be32 run;
  be64 block;  // number of the sparse block, from 0 in each run
  std::uint8_t flags = 0;
  FlareKind kind = FlareKind::contribution;
  ElementType element_type = ElementType::f32;
  Operator op = Operator::sum;
  be16 elements;       // in the payload: pairs, or elements of a run
  be16 contributions;  // ranks in the sum that this shard ends; 0: it does not end one
  be16 workers;        // ranks of the job
  be16 window;         // sparse blocks in flight per rank
  be64 fingerprint;    // of the tags of the shards that went into the sum and are in no earlier one
  be64 edition;        // shards of two editions are not of one sum; 0: a rank's own
  be16 span;           // elements of the vector that the block stands for
  be16 first;          // of a run: its offset in the block
  be16 full;           // bytes of the payload that no shard exceeds, the same for the whole run
  std::uint8_t shard = 0;   // from 0
  std::uint8_t shards = 0;  // how many they are; of a contribution only in its last one, else 0
  FlareForm form = FlareForm::pairs;
  std::uint8_t reserved[3] = {};
  be32 payload_crc;  // CRC-32 over the payload
  be32 crc;          // CRC-32 over the 60 bytes before it

  static constexpr std::uint8_t sparse_bit = 0x80;
  static constexpr std::uint8_t current_version = FlareHeader::current_version;

  constexpr bool retransmission() const { return (flags & FlareHeader::retransmission_bit) != 0; }
  constexpr bool answers() const { return (flags & FlareHeader::answer_bit) != 0; }
  constexpr std::uint8_t version() const { return flags & FlareHeader::version_mask; }
  // Returns whether it is the last shard of its contribution or result.
  constexpr bool is_last() const { return shards != 0 && shard + 1 == shards; }
  // One shard of a contribution asks for all, so that n shards are not answered n times.
  constexpr bool asks() const { return is_last() && retransmission() && !answers(); }
};
static_assert(sizeof(FlareSparseHeader) == 64 && alignof(FlareSparseHeader) == 1);
static_assert(offsetof(FlareSparseHeader, window) == offsetof(FlareHeader, window) &&
              offsetof(FlareSparseHeader, flags) == offsetof(FlareHeader, flags));

// One contribution has at most so many shards: as many as a word has bits.
inline constexpr std::size_t flare_shards_max = 64;
// A block takes at most so many shards when its elements are all there. So a switch whose hash
// table overflows has room for all that is left, whatever it has spilled before.
inline constexpr std::size_t flare_runs_max = 32;
inline constexpr std::size_t flare_span_max = 0xffff;
inline constexpr std::size_t flare_offset_bytes = sizeof(std::uint16_t);
inline constexpr std::size_t flare_full_min = 64;

// Returns whether an element is one number, of which a zero can be left out, as
// host::is_sparse_type() does.
constexpr bool is_flare_sparse_type(ElementType type) {
  return type <= ElementType::i64;
}

// Tells how the elements of a vector lie in blocks and shards.
struct FlareSparseShape {
  std::size_t element_bytes;
  std::size_t full;  // bytes

  constexpr std::size_t pair_bytes() const { return flare_offset_bytes + element_bytes; }
  constexpr std::size_t pairs_per_shard() const { return full / pair_bytes(); }
  constexpr std::size_t elements_per_run() const { return full / element_bytes; }
  constexpr std::size_t runs(std::size_t span) const {
    return (span + elements_per_run() - 1) / elements_per_run();
  }
  // An empty block has one shard, too.
  constexpr std::size_t shards_of_pairs(std::size_t present) const {
    return std::max<std::size_t>((present + pairs_per_shard() - 1) / pairs_per_shard(), 1);
  }
  // Returns whether so many elements of a block are sent as pairs, not all of them as runs: that is
  // so where it takes fewer bytes, and no more shards, of which pairs may leave more of each empty.
  constexpr bool prefers_pairs(std::size_t present, std::size_t span) const {
    return present * pair_bytes() < span * element_bytes && shards_of_pairs(present) <= runs(span);
  }
  constexpr std::size_t span_max() const {
    return std::min(flare_span_max, flare_runs_max * elements_per_run());
  }
  // Returns the elements of a block, where the rank that has most brings `present` of `count`
  // elements: on average its pairs fill seven eighths of a packet, as those of every other block
  // would not fit where the average alone fills it. What is never sparse has its elements in one
  // run.
  constexpr std::size_t span(std::uint64_t present, std::uint64_t count) const {
    if (present == 0) {
      return span_max();
    }
    return std::clamp<std::uint64_t>(pairs_per_shard() * 7 / 8 * count / present,
                                     std::min(elements_per_run(), flare_span_max), span_max());
  }
};

constexpr FlareSparseShape shape_of(const FlareSparseHeader& header) {
  return {element_bytes(header.element_type), header.full.value()};
}

inline std::size_t flare_payload_bytes(const FlareSparseHeader& header) {
  const auto shape = shape_of(header);
  return header.elements.value() *
         (header.form == FlareForm::pairs ? shape.pair_bytes() : shape.element_bytes);
}

// Returns the offset of one of the pairs in a payload, which are not aligned.
inline std::uint16_t flare_offset_at(const std::byte* pair) {
  std::uint16_t offset;
  std::memcpy(&offset, pair, sizeof offset);
  return offset;
}

// Returns whether it is for parse_flare_sparse(), of what comes to Flare's port.
inline bool is_flare_sparse(Bytes bytes) {
  constexpr auto at = offsetof(FlareSparseHeader, flags);
  return bytes.size() > at &&
         (std::to_integer<std::uint8_t>(bytes[at]) & FlareSparseHeader::sparse_bit) != 0;
}

struct FlareSparseView {
  FlareError error = FlareError::truncated;
  FlareSparseHeader* header = nullptr;  // set whenever 64 bytes were there
  MutableBytes payload;  // empty unless error == none; then what it names is within the span
};

// Checks every field, both CRCs, and every offset. `bytes` is everything behind the UDP header.
FlareSparseView parse_flare_sparse(MutableBytes bytes);

}  // namespace tributary::wire
