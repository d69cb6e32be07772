// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "engine/tree_place.h"
#include "packet/clock.h"
#include "packet/fate.h"
#include "packet/packet.h"
#include "protocols/flare/engine/accumulator.h"
#include "protocols/flare/engine/config.h"
#include "protocols/flare/engine/figures.h"
#include "protocols/flare/engine/headers.h"
#include "protocols/flare/engine/horizon.h"
#include "protocols/flare/engine/partials.h"
#include "protocols/flare/engine/runs.h"
#include "protocols/flare/engine/slot.h"
#include "protocols/flare/engine/sparse_blocks.h"
#include "protocols/flare/engine/working_memory.h"
#include "protocols/flare/wire.h"

namespace tributary::flare {

// This is one job's reduction tree at one switch, on one core: its blocks, each in its slot, and
// the buffers in which they are added up. What is sent is decided elsewhere.
class Tree {
 public:
  // After so long another run may take the place of the current one.
  static constexpr Duration run_silence = std::chrono::seconds(1);

  Tree(const TreeConfig& config, const engine::SwitchIdentity& self, WorkingMemory& memory);

  std::uint64_t key() const { return config_.job; }
  const TreeConfig& config() const { return config_; }
  const engine::TreePorts& ports() const { return ports_; }
  // Returns a number that trees with other children, or in another order, do not have.
  std::uint64_t order() const { return order_; }
  bool is_root() const { return !config_.parent; }
  // Returns the headers in front of elements that are sent from here, or go on from here with that
  // TTL.
  template <typename Header>
  HeadersWith<Header> headers_for(const Header& header, std::uint8_t ttl = 64) const {
    return complete(headers_, header, ttl, bearing.tos);
  }

  // Returns why a packet of that kind is none of the tree's, by where it came from and to whom it
  // goes; no value if it is.
  std::optional<DropReason> misplaced(const engine::Arrival& arrival, wire::FlareKind kind) const;
  // Sees to it that the tree is in the run of a packet, whose window is the tree's and which has
  // come to a slot. Returns why that cannot be, or why the block cannot have the slot; no value
  // otherwise.
  template <typename Header, typename SlotOfBlock>
  std::optional<DropReason> admit(const Header& header, const SlotOfBlock& slot, Time now) {
    const auto block = header.block.value();
    if (!runs_.is_current(header.run.value())) {
      if (const auto reason =
              change_run(header.run.value(), header.kind, block, header.window.value(), now)) {
        return reason;
      }
    }
    hear(now);
    return count_stale(horizon_of(slot).objection(block, slot, now));
  }
  // Notes that a packet of the run has come.
  void hear(Time now) {
    last_heard_ = now;
    active_ = true;
  }
  // Notes that a sum of the run is complete.
  void note_sum() { runs_.note_sum(); }
  // Returns whether somebody has been heard lately.
  bool is_active() const { return active_; }
  std::optional<Time> last_heard() const { return last_heard_; }
  // Lets go of all that gathers and is kept, and forgets the runs: the job says nothing any more.
  void rest();

  Slot& slot(std::uint64_t block) { return slots_[block & (slots_.size() - 1)]; }
  const std::vector<Slot>& slots() const { return slots_; }
  // Returns the children whose contributions a block waits for.
  std::uint64_t missing(const Slot& slot) const { return ports_.all_children() & ~slot.arrived; }

  // Returns whether the contributions of these children, a bit each, which are new, and those that
  // are there make a sum.
  bool fits(const Slot& slot, const wire::FlareHeader& header, std::uint64_t children) const;
  // Lets a block gather from now on, in the place of an older one if there is one.
  void begin(Slot& slot, const wire::FlareHeader& header, Time now);
  // Adds a packet that is nothing but elements, and fits. It may become a buffer. Returns false if
  // there are none. Where the order is fixed, the packet is of one child.
  bool add(Slot& slot, const wire::FlareHeader& header, std::uint64_t children, PacketPtr& packet);
  // Takes the elements of a block of which nobody is missing; it gathers no longer.
  PacketPtr take_sum(Slot& slot);
  // Keeps the elements of the block's sum or result, which so many frames share.
  Packet& keep(Slot& slot, Slot::State state, PacketPtr elements, unsigned frames);
  void clear(Slot& slot);

  // Returns null if what comes here of other cores' blocks is passed on to them.
  Partials* partials() const { return partials_.get(); }
  // Begins a partial sum, on a core that does not own the block, in the place of an older block.
  void begin_partial(Slot& slot, const wire::FlareHeader& header, Time now);
  // take_partial() takes the elements of a partial sum that is ready to go; pass() keeps nothing of
  // the block here.
  PacketPtr take_partial(Slot& slot);
  void pass(Slot& slot, const wire::FlareHeader& header);
  // Returns null if there is none.
  Slot* oldest_partial();

  // Returns null if the tree has no sparse blocks.
  SparseBlocks* sparse() const { return sparse_.get(); }

  void prefetch(const Slot& slot) const;
  // Fetches the elements that the next contribution to it needs.
  void prefetch_elements(const Slot& slot, std::size_t bytes) const;

  std::uint64_t gathering() const { return gathering_; }
  std::uint64_t gathering_high_water() const { return gathering_high_water_; }

  TreeCounters counters;
  Bearing bearing;  // of its latest packet; all go on so

 private:
  std::span<Accumulator> buffers_of(const Slot& slot) {
    return {&buffers_[first_buffer(slot)], buffers_per_slot_};
  }
  std::size_t first_buffer(const Slot& slot) const {
    return static_cast<std::size_t>(&slot - slots_.data()) * buffers_per_slot_;
  }
  std::optional<DropReason> change_run(std::uint32_t run, wire::FlareKind kind, std::uint64_t block,
                                       std::uint64_t window, Time now);
  std::optional<DropReason> count_stale(std::optional<DropReason> reason);
  Horizon& horizon_of(const Slot& /*slot*/) { return horizon_; }
  Horizon& horizon_of(const SparseSlot& /*slot*/) { return sparse_->horizon(); }
  void begin_at_first_blocks();
  void let_go();
  void start(Slot& slot, const wire::FlareHeader& header, Time now);
  std::uint32_t number_of(const Slot& slot) const {
    return static_cast<std::uint32_t>(&slot - slots_.data());
  }
  void note_taken(const Slot& slot) {
    taken_[number_of(slot) / 64] |= std::uint64_t{1} << number_of(slot) % 64;
  }
  bool add_up(Slot& slot, std::uint64_t children, PacketPtr& packet);
  void end_gathering(Slot& slot);

  TreeConfig config_;
  engine::TreePorts ports_;
  std::uint64_t order_;
  engine::GroupHeaders headers_;
  WorkingMemory& memory_;
  Runs runs_;
  Horizon horizon_;
  std::vector<Slot> slots_;           // by block; a power of two
  std::vector<std::uint64_t> taken_;  // of them, a bit each: this core has its block
  std::size_t buffers_per_slot_;
  std::vector<Accumulator> buffers_;  // by slot
  std::unique_ptr<Partials> partials_;
  std::unique_ptr<SparseBlocks> sparse_;
  std::uint64_t gathering_ = 0;  // blocks
  std::uint64_t gathering_high_water_ = 0;
  bool active_ = false;
  std::optional<Time> last_heard_;
};

}  // namespace tributary::flare
