// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "packet/packet.h"
#include "protocols/flare/engine/sparse_shards.h"
#include "protocols/flare/engine/sparse_storage.h"
#include "protocols/flare/engine/working_memory.h"
#include "protocols/flare/sparse_wire.h"
#include "wire/cursor.h"
#include "wire/element.h"

namespace tributary::flare {

// Holds the sum of a sparse block while it grows (section 7). Data get denser on their way up, so
// that the root has an array; others have a hash table and a spill buffer, which is sent up as soon
// as it is full, and go on with an array when they have spilled half of what the block takes when
// all of its elements are there, or when somebody below sends a run.
class SparseSum {
 public:
  // Begins the sum of a block that is like this header. It has no buffers yet.
  void begin(const wire::FlareSparseHeader& header, bool is_root);
  // Adds a shard that passed every check. What is spilled over that, one shard at most, comes to
  // `out`. Returns false if there are no buffers for it; then the sum has not changed.
  bool take(const wire::FlareSparseHeader& header, wire::Bytes payload, WorkingMemory& memory,
            SparseShards& out);
  // Takes the rest, at least one shard, of a sum to which something was added. Nothing is left
  // here.
  void finish(WorkingMemory& memory, SparseShards& out);
  void clear(WorkingMemory& memory);

 private:
  bool reserve(const wire::FlareSparseHeader& header, WorkingMemory& memory);
  bool reserve_overflow(std::size_t pairs, WorkingMemory& memory);
  bool reserve_array(WorkingMemory& memory);
  void change_to_array(WorkingMemory& memory);
  void add_pairs(wire::Bytes pairs, WorkingMemory& memory, SparseShards& out);
  template <typename T>
  void spill(const std::byte* pair, WorkingMemory& memory, SparseShards& out);
  bool is_last_spill() const { return spilled_ + 1 == spills_until_array_; }

  wire::ElementType type_ = wire::ElementType::f32;
  SparseShape shape_{sizeof(float), wire::flare_full_min};
  std::size_t span_ = 0;
  bool is_root_ = false;
  bool has_array_ = false;  // in which the sum is
  HashStorage hash_;
  ArrayStorage array_;
  PacketPtr spilled_pairs_;  // the spill buffer
  PacketPtr spare_;          // takes its place when it is sent
  std::size_t spilled_ = 0;  // shards
  std::size_t spills_until_array_ = 0;
};

}  // namespace tributary::flare
