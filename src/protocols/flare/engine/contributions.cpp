// SPDX-License-Identifier: BSD-3-Clause
// This file handles what comes up the tree, and what becomes of it when nobody is missing.
#include <utility>

#include "engine/missing_handler.h"
#include "protocols/flare/engine/drop_reasons.h"
#include "protocols/flare/engine/engine.h"
#include "reduce/kernel.h"

namespace tributary::flare {

void FlareEngine::contribute(Incoming& in) {
  auto& [tree, slot, ingress, burst] = static_cast<Cause&>(in);
  const auto child = in.child();
  const bool is_known = in.is_of_slot();
  if (is_known && (slot.state != Slot::State::gathering || slot.has(child))) {
    return repeat(in);
  }
  const auto children = std::uint64_t{1} << child;
  if (!tree.fits(slot, in.header, children)) {
    if (is_known && !is_like(slot.header, in.header)) {
      refuse(in, slot.kind());
    }
    return in.drop(drop::mismatch);
  }
  // A handler that is closed may be opened again: the block waits for that.
  if (wire::is_handler(in.header.op) &&
      reduce::find_kernel(in.header.element_type, in.header.op) == nullptr) {
    return in.drop(engine::missing_handler(in.header.op));
  }
  accept(in, children);
}

void FlareEngine::accept(Incoming& in, std::uint64_t children) {
  auto& [tree, slot, ingress, burst] = static_cast<Cause&>(in);
  const auto header = in.header;  // whoever has the packet may let go of it
  if (!in.is_of_slot()) {
    tree.begin(slot, header, burst.now);
  }
  in.packet->narrow_to(sizeof(Headers), in.payload.size());
  if (!tree.add(slot, header, children, in.packet)) {
    if (slot.arrived == 0) {
      tree.clear(slot);
      return in.drop(DropReason::no_buffer);
    }
    return in.drop(wire::is_handler(header.op) ? engine::missing_handler(header.op)
                                               : DropReason::no_buffer);
  }
  ++tree.counters.contributions;
  in.absorb();
  if (tree.missing(slot) == 0) {
    complete(in);
  } else if (header.asks()) {
    ask_missing(in);  // somebody may have the result of what was sent before
  }
}

// Whoever sends again lacks the result.
void FlareEngine::repeat(Incoming& in) {
  auto& [tree, slot, ingress, burst] = static_cast<Cause&>(in);
  ++tree.counters.duplicates;
  if (slot.state == Slot::State::done && in.header.retransmission()) {
    replay(in, 0);
  } else if (slot.state == Slot::State::summed && in.header.asks()) {
    if (slot.refused) {
      refuse(in, *slot.refused);
    }
    resend(in, wire::FlareHeader::retransmission_bit);
  } else if (slot.state == Slot::State::gathering && in.header.asks()) {
    ask_missing(in);
  }
  in.drop(drop::duplicate);
}

void FlareEngine::complete(const Cause& cause) {
  auto& [tree, slot, ingress, burst] = cause;
  auto sum = tree.take_sum(slot);
  sum->ingress = ingress;
  sum->over_ipv6 = tree.bearing.over_ipv6;
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
    return multicast(cause, std::move(sum), headers, tree.ports().all_children());
  }
  auto& body = tree.keep(slot, Slot::State::summed, std::move(sum), 1);
  frames_.send_sharing(body, headers.bytes(), *tree.config().parent, burst.actions);
}

}  // namespace tributary::flare
