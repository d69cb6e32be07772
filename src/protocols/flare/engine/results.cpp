// SPDX-License-Identifier: BSD-3-Clause
// This file handles what goes down the tree, what is kept for those who lose it, how somebody who
// has it is found where it is lost, and who cannot have any. A rank has either a block's result or
// what it contributed to it: so whoever is asked sends one or the other, and nothing is ever lost
// for good.
#include <bit>
#include <utility>

#include "engine/port_bitmap.h"
#include "protocols/flare/engine/drop_reasons.h"
#include "protocols/flare/engine/engine.h"
#include "protocols/flare/engine/repeat_interval.h"

namespace tributary::flare {
namespace {

// Returns the header that asks for the result of that block.
wire::FlareHeader inquiry_about(const wire::FlareHeader& about) {
  auto header = about;
  header.kind = wire::FlareKind::inquiry;
  header.flags = wire::FlareHeader::current_version;
  header.elements = std::uint16_t{0};
  header.contributions = std::uint16_t{1};
  header.fingerprint = std::uint64_t{0};
  wire::seal(header, {});
  return header;
}

// Returns the header that tells whoever sent that contribution that its block is of another kind.
// It has the tag that only those can know through whom the contribution went.
wire::FlareHeader refusal_of(const wire::FlareHeader& contribution, BlockKind kind) {
  auto header = contribution;
  header.kind = wire::FlareKind::refusal;
  header.flags = wire::FlareHeader::current_version;
  header.element_type = kind.type;
  header.op = kind.op;
  header.elements = std::uint16_t{0};
  wire::seal(header, {});
  return header;
}

}  // namespace

// Takes a result from the parent, or from a child that was asked: then it is news to the parent,
// too, if that has asked.
void FlareEngine::take_result(Incoming& in) {
  auto& [tree, slot, ingress, burst] = static_cast<Cause&>(in);
  const bool is_known = in.is_of_slot();
  if (is_known && slot.state == Slot::State::done) {
    ++tree.counters.duplicates;
    return in.drop(drop::duplicate);
  }
  if (is_known && !is_like(slot.header, in.header)) {
    return in.drop(drop::mismatch);
  }
  if (!in.may_be_result()) {
    return in.drop(drop::unasked);
  }
  const auto ttl = in.frame.ipv4->ttl;
  if (ttl <= 1) {
    return in.drop(DropReason::ttl_exceeded);
  }
  ++(in.is_from_parent() ? tree.counters.results : tree.counters.answers);
  const bool parent_waits = in.parent_waits();
  tree.clear(slot);
  slot.block = in.header.block.value();
  slot.header = in.header;
  slot.header.flags = wire::FlareHeader::current_version;
  wire::reseal(slot.header);
  const auto headers = tree.headers_for(slot.header, static_cast<std::uint8_t>(ttl - 1));
  in.packet->narrow_to(sizeof headers, in.payload.size());
  burst.actions.absorb(nullptr);
  multicast(in, std::move(in.packet), headers, in.other_children());
  if (parent_waits) {
    send_again(in, wire::FlareHeader::answer_bit, *tree.config().parent);
  }
}

// Each child gets headers of its own in front of the same elements.
void FlareEngine::multicast(const Cause& cause, PacketPtr elements, const Headers& headers,
                            std::uint64_t children) {
  auto& [tree, slot, ingress, burst] = cause;
  const auto frames = static_cast<unsigned>(std::popcount(children));
  auto& body = tree.keep(slot, Slot::State::done, std::move(elements), frames);
  const auto& ports = tree.config().children;
  engine::for_each_child(children, [&, &actions = burst.actions](std::size_t child) {
    frames_.send_sharing(body, headers.bytes(), ports[child], actions);
  });
}

void FlareEngine::send_again(const Cause& cause, std::uint8_t flags, PortIndex port) {
  auto header = cause.slot.header;
  header.flags |= flags;
  wire::reseal(header);
  const auto headers = cause.tree.headers_for(header);
  frames_.send(
      {headers.bytes(), cause.slot.kept.bytes(), cause.ingress, cause.tree.bearing.over_ipv6}, port,
      cause.burst.actions);
}

void FlareEngine::replay(const Cause& cause, std::uint8_t flags) {
  ++cause.tree.counters.replays;
  send_again(cause, flags, cause.ingress);
}

void FlareEngine::resend(const Cause& cause, std::uint8_t flags) {
  if (is_time(cause.slot.told, cause.burst.now)) {
    ++cause.tree.counters.resent;
    send_again(cause, flags, *cause.tree.config().parent);
  }
}

void FlareEngine::take_inquiry(Incoming& in) {
  // This is not a question again, or two switches would ask each other for ever.
  constexpr auto sum_flags = wire::FlareHeader::retransmission_bit | wire::FlareHeader::answer_bit;
  ++in.tree.counters.inquiries;
  if (!in.is_of_slot()) {
    inquire(in, in.header, in.tree.ports().all_children());
  } else if (in.slot.state == Slot::State::done) {
    replay(in, wire::FlareHeader::answer_bit);
  } else if (in.slot.state == Slot::State::summed) {
    resend(in, sum_flags);
  } else {
    ask_missing(in);
  }
  in.slot.inquired.note_parent(in.header);
  in.absorb();
}

// Asks the children whose contributions are missing in a block that gathers.
void FlareEngine::ask_missing(const Cause& cause) {
  inquire(cause, cause.slot.header, cause.tree.missing(cause.slot));
}

// Asks for a block of which nothing is here no more often than for others, or whoever can send by
// the parent's port would have each packet multiplied. The time is noted in the slot that the block
// belongs in: the older one that may be there needs nothing any more.
void FlareEngine::inquire(const Cause& cause, const wire::FlareHeader& about,
                          std::uint64_t children) {
  if (!is_time(cause.slot.told, cause.burst.now)) {
    return;
  }
  cause.slot.inquired.note(about, children);
  ++cause.tree.counters.inquiries_sent;
  const auto headers = cause.tree.headers_for(inquiry_about(about));
  frames_.send({headers.bytes(), {}, cause.ingress, cause.tree.bearing.over_ipv6},
               cause.tree.config().children, children, cause.burst.actions);
}

// Tells the sender that its contribution cannot be in its block, which is of that kind.
void FlareEngine::refuse(const Incoming& in, BlockKind kind) {
  ++in.tree.counters.refusals_sent;
  const auto headers = in.tree.headers_for(refusal_of(in.header, kind));
  frames_.send({headers.bytes(), {}, in.ingress, in.tree.bearing.over_ipv6}, in.ingress,
               in.burst.actions);
}

// Takes the refusal of the sum that went up. The tags that it is made of are not here any more:
// each child is told when it sends its own again.
void FlareEngine::take_refusal(Incoming& in) {
  ++in.tree.counters.refusals;
  if (in.is_of_slot() && in.slot.state == Slot::State::summed &&
      in.slot.header.fingerprint == in.header.fingerprint) {
    in.slot.refused = BlockKind{in.header.element_type, in.header.op};
  }
  in.absorb();
}

}  // namespace tributary::flare
