// SPDX-License-Identifier: BSD-3-Clause
// This file handles what comes to a core of blocks that another one owns. What is out of the
// ordinary goes to the owner as it came, and is judged there; the rest is added up here, and goes
// as one.
#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/missing_handler.h"
#include "engine/prefetch.h"
#include "engine/spreading.h"
#include "protocols/flare/engine/drop_reasons.h"
#include "protocols/flare/engine/engine.h"
#include "protocols/flare/engine/lane.h"
#include "reduce/kernel.h"

namespace tributary::flare {
namespace {

std::uint64_t key_of(const wire::FlareHeader& header) {
  return wire::flare_key(header.job.value(), wire::flare_flow_of(header));
}

// The headers that were in front of the first contribution leave more room than this takes.
void put_in_front(Packet& elements, const PartialSum& partial) {
  static_assert(sizeof partial <= sizeof(Headers));
  elements.offset = static_cast<std::uint16_t>(elements.offset - sizeof partial);
  elements.length += sizeof partial;
  std::memcpy(elements.data(), &partial, sizeof partial);
}

PartialSum take_from_front(Packet& packet) {
  PartialSum partial;
  std::memcpy(&partial, packet.data(), sizeof partial);
  packet.narrow_to(sizeof partial, packet.length - sizeof partial);
  return partial;
}

// Returns whether a packet is of the tree, and can be part of a sum that goes from core to core.
bool is_to_be_summed(const engine::Arrival& arrival, const Tree& tree) {
  const auto view = wire::parse_flare(arrival.frame.payload);
  return !refusal(arrival, view, &tree) && is_of_tree(*view.header, tree.config()) &&
         is_summed_in_place(*view.header);
}

}  // namespace

void FlareEngine::gather(std::span<engine::Arrival> burst, Time now, engine::Actions& actions) {
  const Burst current{now, actions};
  const auto find = [this](const engine::Frame& frame) { return locate(frame); };
  const auto fetch = [](const Place& place, const engine::Frame& frame) {
    prefetch_elements(place, frame);
  };
  const auto handle_one = [&](const Place& place, engine::Arrival& arrival) {
    if (!gather_one(arrival, place, current)) {
      pass_on(arrival, place, current);
    }
  };
  engine::handle_ahead(burst, find, fetch, handle_one);
}

void FlareEngine::pass_on(engine::Arrival& arrival, const Place& place, const Burst& burst) {
  if (place.tree != nullptr) {
    ++place.tree->counters.passed_on;
  }
  const auto core = engine::owner_of(wire::peek_flare_key(arrival.frame.payload), self_.cores);
  burst.actions.pass_on(std::move(arrival.packet), core);
}

// Returns whether others are to come, so that the packet is no partial sum by itself. Its header,
// which nobody has checked, is believed here in three things if it comes from a child's address:
// its block and run, by which it waits with others at no cost but time, its window, by which the
// owner was found, so that the slot is none of this core's own blocks, and that it was sent before:
// the owner has an answer.
bool FlareEngine::is_worth_gathering(const engine::Arrival& arrival, const Place& place,
                                     const Burst& burst) {
  if (place.slot == nullptr || place.tree->partials() == nullptr) {
    return false;
  }
  auto& tree = *place.tree;
  auto& slot = *place.slot;
  const auto& header = *wire::Cursor(arrival.frame.payload).take<wire::FlareHeader>();
  const auto ingress = arrival.packet->ingress;
  const auto child = tree.ports().child_of(ingress);
  if (child == engine::TreePorts::no_child || header.window.value() != tree.config().window ||
      !tree.ports().may_come(ingress, arrival.frame.ipv4->source)) {
    return false;
  }
  auto& partials = *tree.partials();
  const auto block = header.block.value();
  const auto others = partials.usual(block) & ~(std::uint64_t{1} << child);
  partials.note(block, child);
  if (header.retransmission()) {
    return false;
  }
  if (slot.is_of(block, header.run.value())) {
    return slot.state == Slot::State::partial && !slot.has(child);
  }
  if (others != 0 && partials.has_room()) {
    return true;
  }
  hand_over_partial(tree, slot, burst.actions);
  tree.pass(slot, header);
  return false;
}

// Returns false if the packet is for the owner; then nothing was changed in it.
bool FlareEngine::gather_one(engine::Arrival& arrival, const Place& place, const Burst& burst) {
  if (!is_worth_gathering(arrival, place, burst)) {
    return false;
  }
  auto& tree = *place.tree;
  auto& slot = *place.slot;
  const bool is_expected = lane_ == Lane::on && joins(arrival, tree, slot);
  if (!is_expected && !is_to_be_summed(arrival, tree)) {
    return false;
  }
  // The packet may become the buffer.
  const auto header = *wire::Cursor(arrival.frame.payload).take<wire::FlareHeader>();
  const auto block = header.block.value();
  const bool is_known = slot.is_of(block, header.run.value());
  if (!is_known) {
    hand_over_partial(tree, slot, burst.actions);
    tree.clear(slot);
  }
  const auto children = std::uint64_t{1} << tree.ports().child_of(arrival.packet->ingress);
  const bool is_closed =
      wire::is_handler(header.op) && reduce::find_kernel(header.element_type, header.op) == nullptr;
  if (is_closed || !tree.fits(slot, header, children)) {
    return false;
  }
  if (!is_known) {
    tree.begin_partial(slot, header, burst.now);
    next_hand_over_ = std::min(next_hand_over_, burst.now + Partials::wait_max);
  }
  tree.bearing = Bearing(arrival);
  arrival.packet->narrow_to(sizeof(Headers), payload_bytes(header));
  if (!tree.add(slot, header, children, arrival.packet)) {  // closed meanwhile
    burst.actions.drop(std::move(arrival.packet), engine::missing_handler(header.op));
    return true;
  }
  ++tree.counters.contributions;
  burst.actions.absorb(std::move(arrival.packet));
  if ((tree.partials()->usual(block) & ~slot.arrived) == 0) {
    hand_over_partial(tree, slot, burst.actions);
  }
  return true;
}

// Hands over the partial sum of the slot, if it has one.
void FlareEngine::hand_over_partial(Tree& tree, Slot& slot, engine::Actions& actions) {
  if (slot.state != Slot::State::partial) {
    return;
  }
  ++tree.counters.partial_sums;
  auto packet = tree.take_partial(slot);
  put_in_front(*packet, {slot.header, tree.bearing, slot.arrived, tree.order()});
  const auto core = engine::owner_of(key_of(slot.header), self_.cores);
  actions.hand_over(std::move(packet), core, static_cast<std::size_t>(FlareConfig::row));
}

// Hands over what has waited long enough for whoever may come by another core.
void FlareEngine::hand_over_overdue(Time now, engine::Actions& actions) {
  if (now < next_hand_over_) {
    return;
  }
  next_hand_over_ = never;
  for (const auto& tree : trees_.all()) {
    Slot* oldest = nullptr;
    while ((oldest = tree->oldest_partial()) != nullptr &&
           oldest->since + Partials::wait_max <= now) {
      tree->partials()->correct(oldest->block, oldest->arrived);
      hand_over_partial(*tree, *oldest, actions);
    }
    if (oldest != nullptr) {
      next_hand_over_ = std::min(next_hand_over_, oldest->since + Partials::wait_max);
    }
  }
}

void FlareEngine::merge(PacketList sums, Time now, engine::Actions& actions) {
  const Burst burst{now, actions};
  while (auto packet = sums.pop()) {
    if (const auto* next = sums.front()) {  // all of it is in the other core's cache
      engine::prefetch(next->data(), next->length);
    }
    const auto partial = take_from_front(*packet);
    auto* tree = trees_.find(partial.header.job.value());
    if (const auto reason = merge_into(tree, partial, packet, burst)) {
      actions.lose(*reason);
    }
  }
}

// Merges a partial sum into its block. Returns why that cannot be; no value if it is done. All
// ranks in a partial sum have to send again where one of them had done so already.
std::optional<DropReason> FlareEngine::merge_into(Tree* tree, const PartialSum& partial,
                                                  PacketPtr& packet, const Burst& burst) {
  if (tree == nullptr) {
    return drop::no_tree;
  }
  const auto& header = partial.header;
  auto& slot = tree->slot(header.block.value());
  if (tree->partials() == nullptr || !is_of_tree(header, tree->config()) ||
      partial.order != tree->order()) {
    return drop::mismatch;
  }
  if (const auto reason = tree->admit(header, slot, burst.now)) {
    return reason;
  }
  look_soon(burst.now);
  const bool is_known = slot.is_of(header.block.value());
  if (is_known &&
      (slot.state != Slot::State::gathering || (slot.arrived & partial.children) != 0)) {
    return drop::duplicate;
  }
  if (!tree->fits(slot, header, partial.children)) {
    return drop::mismatch;
  }
  if (!is_known) {
    tree->begin(slot, header, burst.now);
  }
  const auto ingress = packet->ingress;
  tree->bearing = partial.bearing;
  if (!tree->add(slot, header, partial.children, packet)) {
    if (slot.arrived == 0) {
      tree->clear(slot);
    }
    return wire::is_handler(header.op) ? engine::missing_handler(header.op) : DropReason::no_buffer;
  }
  if (tree->missing(slot) == 0) {
    complete({*tree, slot, ingress, burst});
  }
  return std::nullopt;
}

}  // namespace tributary::flare
