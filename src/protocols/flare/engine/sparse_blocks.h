// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/tree_place.h"
#include "packet/clock.h"
#include "packet/packet.h"
#include "protocols/flare/engine/config.h"
#include "protocols/flare/engine/horizon.h"
#include "protocols/flare/engine/sparse_shards.h"
#include "protocols/flare/engine/sparse_slot.h"
#include "protocols/flare/engine/working_memory.h"
#include "protocols/flare/sparse_wire.h"

namespace tributary::flare {

// Holds the sparse blocks of one tree on one core (section 7), each in its slot. What is sent is
// decided elsewhere.
class SparseBlocks {
 public:
  SparseBlocks(const TreeConfig& config, const engine::TreePorts& ports, WorkingMemory& memory);

  SparseSlot& slot(std::uint64_t block) { return slots_[block & (slots_.size() - 1)]; }
  const std::vector<SparseSlot>& slots() const { return slots_; }
  Horizon& horizon() { return horizon_; }
  const SparseChild& child(const SparseSlot& slot, std::size_t index) const {
    return children_[index_of(slot) * ports_.children() + index];
  }
  // Returns the children of which a block lacks something.
  std::uint64_t missing(const SparseSlot& slot) const {
    return ports_.all_children() & ~slot.arrived;
  }

  // Returns whether the ranks in a child's last shard and those that are counted make a sum; `anew`
  // means that none are counted.
  bool fits(const SparseSlot& slot, bool anew, const wire::FlareSparseHeader& header,
            std::size_t child) const;
  // Lets a block gather from now on, in the place of an older one if there is one.
  void begin(SparseSlot& slot, const wire::FlareSparseHeader& header, Time now);
  // Forgets all that was contributed, which is in no sum with what will be.
  void begin_anew(SparseSlot& slot, Time now);
  // Adds a shard of that child's; what is spilled comes to `out`. Returns false if there are no
  // buffers.
  bool add(SparseSlot& slot, std::size_t child, const wire::FlareSparseHeader& header,
           wire::Bytes payload, SparseShards& out);
  // Takes the rest of a sum of which nothing is missing; it gathers no longer.
  void take_sum(SparseSlot& slot, SparseShards& out);

  // Keeps a shard that so many frames share.
  Packet& keep(KeptShard& place, const wire::FlareSparseHeader& header, PacketPtr payload,
               unsigned frames);
  // Lets go of what the result was made of, as it is there for everybody.
  void finish(SparseSlot& slot);
  void let_go_of_result(SparseSlot& slot);
  void clear(SparseSlot& slot);
  void clear_all();

  void prefetch(const SparseSlot& slot) const;

  std::uint64_t gathering() const { return gathering_; }
  std::uint64_t gathering_high_water() const { return gathering_high_water_; }

 private:
  std::size_t index_of(const SparseSlot& slot) const {
    return static_cast<std::size_t>(&slot - slots_.data());
  }
  std::span<SparseChild> children_of(const SparseSlot& slot) {
    return {&children_[index_of(slot) * ports_.children()], ports_.children()};
  }
  void let_go_of_work(SparseSlot& slot);
  void forget_contributions(SparseSlot& slot);
  void let_go_of_sum(SparseSlot& slot);
  void end_gathering(SparseSlot& slot);
  std::uint64_t new_edition(Time now);

  const engine::TreePorts& ports_;
  WorkingMemory& memory_;
  std::uint16_t workers_below_;
  bool is_root_;
  Horizon horizon_;
  std::vector<SparseSlot> slots_;      // by block; a power of two
  std::vector<std::uint64_t> taken_;   // of them, a bit each: not free
  std::vector<SparseChild> children_;  // by slot
  std::uint64_t edition_ = 0;          // the latest
  std::uint64_t gathering_ = 0;        // blocks
  std::uint64_t gathering_high_water_ = 0;
};

}  // namespace tributary::flare
