// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "packet/packet.h"
#include "protocols/flare/sparse_wire.h"

namespace tributary::flare {

// A sum gives this away at once: a packet that is nothing but pairs, or elements of a run.
struct SparseShard {
  PacketPtr payload;
  wire::FlareForm form = wire::FlareForm::pairs;
  std::uint16_t elements = 0;
  std::uint16_t first = 0;  // of a run
};

// Holds a few of them, in their order.
class SparseShards {
 public:
  void push(SparseShard shard) { shards_[count_++] = std::move(shard); }
  std::size_t size() const { return count_; }
  SparseShard& operator[](std::size_t i) { return shards_[i]; }
  void clear() {
    while (count_ > 0) {
      shards_[--count_].payload.reset();
    }
  }

 private:
  std::array<SparseShard, wire::flare_runs_max> shards_;
  std::size_t count_ = 0;
};

}  // namespace tributary::flare
