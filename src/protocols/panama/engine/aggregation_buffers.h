// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "packet/pool.h"
#include "protocols/panama/engine/tree.h"

namespace tributary::panama {

// Counts the packets that an engine holds for its trees (section 5: "dedicated aggregation
// buffers"), and lets go of them: those that wait in rows, early ones, and elements that are kept
// for whoever lost a sum or a result.
class AggregationBuffers {
 public:
  struct PortUse {
    std::uint32_t held = 0;  // packets that wait in rows, of all trees
    std::uint32_t high_water = 0;
  };

  // There is room for `room` packets before trees that rest have to make some.
  AggregationBuffers(PacketPool& pool, PortIndex ports, std::uint64_t room)
      : pool_(pool), ports_(ports), room_(room) {}

  // Holds a packet in a row.
  void hold(Tree& tree, Row& row, std::uint8_t child, PacketPtr packet) {
    auto& port = ports_[tree.config().children[child]];
    port.high_water = std::max(port.high_water, ++port.held);
    ++tree.held[child];
    ++held_;
    row.waiting[child] = std::move(packet);
  }
  // Lets go of a packet in a row.
  void let_go(Tree& tree, Row& row, std::uint8_t child) {
    --ports_[tree.config().children[child]].held;
    --tree.held[child];
    --held_;
    row.waiting[child].reset();
  }
  // Gives back the memory of the packets that wait, and what is left of them.
  void release_waiting(Tree& tree, Row& row);
  // Lets go of what is kept, too.
  void vacate(Tree& tree, Row& row) {
    release_waiting(tree, row);
    clear(tree, row);
  }
  // Lets go at once of what waits in any row, so it looks at every row.
  void evict_waiting(Tree& tree);
  // Lets go of what waits in rows that were complete before, and were remade.
  void evict_remade(Tree& tree);
  // Leaves behind what waits of an epoch that the tree leaves: its memory is the next one's at
  // once. Its packets are let go in time, by sweep(), as it is only one packet that has the tree go
  // on.
  void abandon_rows(Tree& tree);
  void sweep(Tree& tree) {
    if (tree.swept < tree.epochs.first()) {
      sweep_some(tree);
    }
  }
  // Lets go of all of it: nothing comes by any more with which to do that.
  void sweep_all(Tree& tree) {
    while (tree.swept < tree.epochs.first()) {
      sweep_some(tree);
    }
  }

  // Holds an early packet; what waited in the place goes.
  void hold_at(PacketPtr& place, PacketPtr packet) {
    held_ += place == nullptr ? 1 : 0;
    place = std::move(packet);
  }
  PacketPtr take_from(PacketPtr& place) {
    --held_;
    return std::move(place);
  }
  // Lets go of the early packets of a child that has gone on elsewhere.
  void drop_early(Tree& tree, std::uint8_t child);

  // Keeps elements for a row, which is one of the holders of `body`.
  void keep(Tree& tree, Row& row, Packet& body) {
    row.kept = engine::SharedElements(pool_, body);
    ++tree.kept;
    tree.kept_from = std::min(tree.kept_from, row.position);
    kept_high_water_ = std::max(kept_high_water_, ++kept_);
  }
  void clear(Tree& tree, Row& row) {
    if (row.kept) {
      row.kept.reset();
      --tree.kept;
      --kept_;
    }
  }
  // Forgets what is kept of the whole tree.
  void forget(Tree& tree) { forget_before(tree, tree.top, tree.rows()); }
  // Forgets what everybody has received of a tree whose row at `position` is complete.
  void forget_received(Tree& tree, std::uint64_t position) {
    const auto before = tree.received_by_all(position, tree.grant.packets);
    forget_before(tree, before, Tree::rows_at_once);
  }

  // Lets go of everything of a tree that is about to go.
  void remove(Tree& tree);
  // Trees that rest keep the results of their last window as long as there are buffers for all that
  // packets may need: a rank may begin late, and repeats get lost. A switch without buffers is
  // worse. So many more packets are about to be kept.
  void make_room(const TreeTable& trees, std::uint64_t more = 0) {
    if (held_ + kept_ + more > room_) {
      forget_oldest(trees);
    }
  }

  std::span<const PortUse> ports() const { return ports_; }
  std::uint64_t kept() const { return kept_; }
  std::uint64_t kept_high_water() const { return kept_high_water_; }

 private:
  void sweep_some(Tree& tree);
  // Lets go of what is kept before that position, whoever may have lost it, in so many rows at
  // most.
  void forget_before(Tree& tree, std::uint64_t before, std::uint64_t rows_at_most);
  void forget_oldest(const TreeTable& trees);

  PacketPool& pool_;
  std::vector<PortUse> ports_;
  std::uint64_t room_;
  std::uint64_t held_ = 0;  // packets that wait, in rows and for epochs
  std::uint64_t kept_ = 0;  // rows that keep elements
  std::uint64_t kept_high_water_ = 0;
  std::size_t turn_ = 0;  // the tree that is looked at next when there is no room
};

}  // namespace tributary::panama
