// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "engine/engine.h"
#include "packet/fate.h"
#include "packet/packet.h"
#include "protocols/flare/engine/drop_reasons.h"
#include "protocols/flare/engine/tree.h"
#include "protocols/flare/wire.h"
#include "wire/cursor.h"

namespace tributary::flare {

using engine::Burst;

// Tells whose block it is, dense or sparse, and by which port it came that something is done for
// it.
template <typename SlotOfBlock>
struct CauseFor {
  Tree& tree;
  SlotOfBlock& slot;
  PortIndex ingress;
  const Burst& burst;
};

// This is one packet that passed every check, of a tree that is in its run; whoever keeps it moves
// it away.
template <typename SlotOfBlock, typename Header>
struct IncomingFor : CauseFor<SlotOfBlock> {
  PacketPtr packet;
  const engine::Frame& frame;
  const Header& header;
  wire::Bytes payload;

  bool is_of_slot() const { return this->slot.is_of(header.block.value()); }
  // Returns the child that it came from.
  std::size_t child() const { return this->tree.ports().child_of(this->ingress); }
  bool is_from_parent() const { return this->tree.ports().is_parent(this->ingress); }
  // Returns whether a result may come from there: a child sends none unless it was asked.
  bool may_be_result() const {
    return is_from_parent() || this->slot.inquired.may_answer(header, child());
  }
  // Returns whether a result is one that the parent has asked for; it takes no other from a child.
  bool parent_waits() const {
    return !is_from_parent() && this->slot.inquired.parent_waits(header);
  }
  // Returns all below this switch but whoever it came from.
  std::uint64_t other_children() const {
    const auto all = this->tree.ports().all_children();
    return is_from_parent() ? all : all & ~(std::uint64_t{1} << child());
  }

  void drop(DropReason reason) { this->burst.actions.drop(std::move(packet), reason); }
  void absorb() { this->burst.actions.absorb(std::move(packet)); }
};

// Returns whether it is like all dense packets of the tree, with as many ranks in it as there can
// be.
inline bool is_of_tree(const wire::FlareHeader& header, const TreeConfig& tree) {
  const auto contributions = header.contributions.value();
  const bool is_count_possible = header.kind == wire::FlareKind::result
                                     ? contributions == tree.workers
                                     : contributions <= tree.workers_below;
  return header.workers.value() == tree.workers && header.window.value() == tree.window &&
         is_count_possible;
}

// Returns why a packet is none of the tree's; no value if it is. It is not known yet whether it
// fits.
template <typename View>
std::optional<DropReason> refusal(const engine::Arrival& arrival, const View& view,
                                  const Tree* tree) {
  if (view.error != wire::FlareError::none) {
    return protocols::drop_reason_of(view.error, drop::row);
  }
  return tree == nullptr ? drop::no_tree : tree->misplaced(arrival, view.header->kind);
}

}  // namespace tributary::flare
