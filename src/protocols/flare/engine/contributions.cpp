// SPDX-License-Identifier: BSD-3-Clause
// What comes up the tree, and what becomes of it when nobody is missing.
#include <utility>

#include "protocols/flare/engine/drop_reasons.h"
#include "protocols/flare/engine/engine.h"
#include "reduce/kernel.h"

namespace tributary::flare {

void FlareEngine::contribute(Incoming in, const Burst& burst) {
  auto& slot = in.slot;
  const std::size_t child = in.tree.ports().child_of(in.packet->ingress);
  if (slot.is_of(in.block()) && (slot.state != Slot::State::gathering || slot.has(child))) {
    return repeat(in, burst);
  }
  if (!in.tree.fits(slot, in.header, child)) {
    if (slot.is_of(in.block()) && !is_like(slot.header, in.header)) {
      refuse(in.tree, in.header, slot.kind(), in.packet->ingress, burst.actions);
    }
    return burst.actions.drop(std::move(in.packet), drop::mismatch);
  }
  if (wire::is_handler(in.header.op) && !slot.is_of(in.block()) &&
      reduce::find_kernel(in.header.element_type, in.header.op) == nullptr) {
    return burst.actions.drop(std::move(in.packet), DropReason::no_handler);
  }
  accept(in, child, burst);
}

void FlareEngine::accept(Incoming& in, std::size_t child, const Burst& burst) {
  auto& [tree, slot, packet, frame, header_in_packet, bytes] = in;
  const auto header = header_in_packet;  // whoever has the packet may let go of it
  const auto ingress = packet->ingress;
  if (!slot.is_of(header.block.value())) {
    tree.begin(slot, header, burst.now);
  }
  packet->narrow_to(sizeof(Headers), bytes);
  if (!tree.add(slot, header, child, packet)) {
    if (slot.arrived == 0) {
      tree.clear(slot);
    }
    return burst.actions.drop(std::move(packet), DropReason::no_buffer);
  }
  ++tree.counters.contributions;
  burst.actions.absorb(std::move(packet));
  if (tree.missing(slot) == 0) {
    complete(tree, slot, ingress, burst);
  } else if (header.asks()) {
    ask_missing(tree, slot, ingress, burst);  // who may have the result of what was sent before
  }
}

// Who sends again lacks the result.
void FlareEngine::repeat(Incoming& in, const Burst& burst) {
  auto& [tree, slot, packet, frame, header, bytes] = in;
  const auto port = packet->ingress;
  ++tree.counters.duplicates;
  if (slot.state == Slot::State::done && header.retransmission()) {
    replay(tree, slot, 0, port, burst.actions);
  } else if (slot.state == Slot::State::summed && header.asks()) {
    if (slot.refused) {
      refuse(tree, header, *slot.refused, port, burst.actions);
    }
    resend(tree, slot, wire::FlareHeader::retransmission_bit, port, burst);
  } else if (slot.state == Slot::State::gathering && header.asks()) {
    ask_missing(tree, slot, port, burst);
  }
  burst.actions.drop(std::move(packet), drop::duplicate);
}

void FlareEngine::complete(Tree& tree, Slot& slot, PortIndex ingress, const Burst& burst) {
  auto sum = tree.take_sum(slot);
  sum->ingress = ingress;
  slot.told = burst.now;
  if (tree.is_root()) {
    slot.header.kind = wire::FlareKind::result;
    slot.header.flags = wire::FlareHeader::current_version;
  }
  wire::seal(slot.header, std::as_const(*sum).bytes());
  const auto headers = tree.headers_for(slot.header);
  ++tree.counters.sums;
  if (tree.is_root()) {
    ++tree.counters.results;
    return multicast(tree, slot, std::move(sum), headers, tree.ports().all_children(),
                     burst.actions);
  }
  auto& body = tree.keep(slot, Slot::State::summed, std::move(sum), 1);
  frames_.send_sharing(body, headers.bytes(), *tree.config().parent, burst.actions);
}

}  // namespace tributary::flare
