// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "engine/shared_elements.h"
#include "packet/clock.h"
#include "protocols/flare/engine/config.h"
#include "protocols/flare/engine/slot.h"
#include "protocols/flare/engine/sparse_sum.h"
#include "protocols/flare/sparse_wire.h"

namespace tributary::flare {

// Tells what one child has contributed to a block. The shard counter of the paper (7) is a bitmap
// here, so that a shard that comes twice counts once.
struct SparseChild {
  std::uint64_t shards = 0;   // that came, by number
  std::uint64_t edition = 0;  // of all of them
  std::uint8_t total = 0;     // as the last one says; 0: it has not come

  bool has_begun() const { return shards != 0; }
  bool is_complete() const { return total != 0 && std::popcount(shards) == total; }
  bool has(const wire::FlareSparseHeader& header) const {
    return (shards >> header.shard & 1) != 0;
  }
  // Returns whether a shard that has not come can be one of them.
  bool may_have(const wire::FlareSparseHeader& header) const {
    return header.is_last() ? total == 0 && std::bit_width(shards) < header.shards
                            : total == 0 || header.shard < total;
  }
  void note(const wire::FlareSparseHeader& header) {
    shards |= std::uint64_t{1} << header.shard;
    edition = header.edition.value();
    total = std::max(total, header.shards);
  }
};

// This is a shard that was sent, or came, and may be asked for again.
struct KeptShard {
  wire::FlareSparseHeader header;
  engine::SharedElements elements;
};

// A sum has at most so many shards: what it spilled, and all that is left.
inline constexpr std::size_t shards_of_sum_max = spills_max + wire::flare_runs_max;

// This is one sparse block of one tree: first its contributions meet, then what became of them is
// kept.
struct SparseSlot {
  using State = Slot::State;

  State state = State::free;
  bool asked = false;  // somebody below wants the result
  std::uint64_t block = 0;
  Time since{};  // when its first packet came
  Time told{};   // when others were last told of it, or asked
  Inquired inquired;
  wire::FlareSparseHeader header;   // what is common to all, and nothing else
  std::uint64_t edition = 0;        // of what is summed here
  std::uint64_t arrived = 0;        // children all of whose shards are in, by index
  std::uint64_t counted = 0;        // children whose last shard is in
  std::uint32_t contributions = 0;  // ranks in what these children contribute
  // `fingerprint` has the tags of all shards that were taken, `pending` what those that were sent
  // up have left of them.
  std::uint64_t fingerprint = 0;
  std::uint64_t pending = 0;
  SparseSum sum;
  std::size_t sent = 0;                         // shards of the sum
  std::array<KeptShard, shards_of_sum_max> up;  // these shards, until the result is there
  std::uint32_t result_shards = 0;              // that came, by number
  std::array<KeptShard, wire::flare_runs_max> result;

  bool is_of(std::uint64_t wanted) const { return state != State::free && block == wanted; }
  bool has(std::size_t child) const { return (arrived >> child & 1) != 0; }

  // Returns the header of the result that is there, or of which some is.
  const wire::FlareSparseHeader& result_header() const {
    return result[static_cast<std::size_t>(std::countr_zero(result_shards))].header;
  }
  bool has_result() const {
    return result_shards != 0 && std::popcount(result_shards) == result_header().shards;
  }
};

}  // namespace tributary::flare
