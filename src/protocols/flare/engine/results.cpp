// SPDX-License-Identifier: BSD-3-Clause
// What goes down the tree, what is kept for those who lose it, and how somebody who has it is
// found where it is lost; and who cannot have any. A rank has either a block's result or what it
// contributed to it: so whoever is asked sends one or the other, and nothing is ever lost for good.
#include <bit>
#include <utility>

#include "engine/port_bitmap.h"
#include "protocols/flare/engine/drop_reasons.h"
#include "protocols/flare/engine/engine.h"
#include "protocols/flare/engine/repeat_interval.h"

namespace tributary::flare {
namespace {

// What asks for the result of that block.
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

// What tells whoever sent that contribution that its block is of another kind. It has the tag that
// only those can know through whom the contribution went.
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

// From the parent, or from a child that was asked: then it is news to whoever is above, as a sum
// would be.
void FlareEngine::take_result(Incoming in, const Burst& burst) {
  auto& [tree, slot, packet, frame, header, bytes] = in;
  if (slot.is_of(in.block()) && slot.state == Slot::State::done) {
    ++tree.counters.duplicates;
    return burst.actions.drop(std::move(packet), drop::duplicate);
  }
  if (slot.is_of(in.block()) && !is_like(slot.header, header)) {
    return burst.actions.drop(std::move(packet), drop::mismatch);
  }
  const auto ttl = frame.ipv4->ttl;
  if (ttl <= 1) {
    return burst.actions.drop(std::move(packet), DropReason::ttl_exceeded);
  }
  const auto ingress = packet->ingress;
  const bool from_parent = tree.ports().is_parent(ingress);
  ++(from_parent ? tree.counters.results : tree.counters.answers);
  tree.clear(slot);
  slot.block = in.block();
  slot.header = header;
  slot.header.flags = wire::FlareHeader::current_version;
  wire::reseal(slot.header);
  const auto headers = tree.headers_for(slot.header, static_cast<std::uint8_t>(ttl - 1));
  packet->narrow_to(sizeof headers, bytes);
  burst.actions.absorb(nullptr);
  auto receivers = tree.ports().all_children();
  if (!from_parent) {
    receivers &= ~(std::uint64_t{1} << tree.ports().child_of(ingress));
  }
  multicast(tree, slot, std::move(packet), headers, receivers, burst.actions);
  if (!from_parent && !tree.is_root()) {
    send_again(tree, slot, wire::FlareHeader::answer_bit, ingress, *tree.config().parent,
               burst.actions);
  }
}

// Each child gets headers of its own in front of the same elements.
void FlareEngine::multicast(Tree& tree, Slot& slot, PacketPtr elements, const Headers& headers,
                            std::uint64_t children, engine::Actions& actions) {
  const auto frames = static_cast<unsigned>(std::popcount(children));
  auto& body = tree.keep(slot, Slot::State::done, std::move(elements), frames);
  engine::for_each_child(children, [&](std::size_t child) {
    frames_.send_sharing(body, headers.bytes(), tree.config().children[child], actions);
  });
}

void FlareEngine::send_again(const Tree& tree, const Slot& slot, std::uint8_t flags,
                             PortIndex ingress, PortIndex port, engine::Actions& actions) {
  auto header = slot.header;
  header.flags |= flags;
  wire::reseal(header);
  const auto headers = tree.headers_for(header);
  frames_.send({headers.bytes(), slot.kept.bytes(), ingress}, port, actions);
}

void FlareEngine::replay(Tree& tree, const Slot& slot, std::uint8_t flags, PortIndex port,
                         engine::Actions& actions) {
  ++tree.counters.replays;
  send_again(tree, slot, flags, port, port, actions);
}

void FlareEngine::resend(Tree& tree, Slot& slot, std::uint8_t flags, PortIndex ingress,
                         const Burst& burst) {
  if (is_time(slot.told, burst.now)) {
    ++tree.counters.resent;
    send_again(tree, slot, flags, ingress, *tree.config().parent, burst.actions);
  }
}

void FlareEngine::take_inquiry(Incoming in, const Burst& burst) {
  auto& [tree, slot, packet, frame, header, bytes] = in;
  // Not a question again, or two switches would ask each other for ever.
  constexpr auto sum_flags = wire::FlareHeader::retransmission_bit | wire::FlareHeader::answer_bit;
  const auto port = packet->ingress;
  ++tree.counters.inquiries;
  if (!slot.is_of(in.block())) {
    inquire(tree, header, tree.ports().all_children(), port, burst.actions);
  } else if (slot.state == Slot::State::done) {
    replay(tree, slot, wire::FlareHeader::answer_bit, port, burst.actions);
  } else if (slot.state == Slot::State::summed) {
    resend(tree, slot, sum_flags, port, burst);
  } else {
    ask_missing(tree, slot, port, burst);
  }
  burst.actions.absorb(std::move(packet));
}

// Those whose contributions a block waits for that gathers.
void FlareEngine::ask_missing(Tree& tree, Slot& slot, PortIndex ingress, const Burst& burst) {
  if (is_time(slot.told, burst.now)) {
    inquire(tree, slot.header, tree.missing(slot), ingress, burst.actions);
  }
}

void FlareEngine::inquire(Tree& tree, const wire::FlareHeader& about, std::uint64_t children,
                          PortIndex ingress, engine::Actions& actions) {
  ++tree.counters.inquiries_sent;
  const auto headers = tree.headers_for(inquiry_about(about));
  frames_.send({headers.bytes(), {}, ingress}, tree.config().children, children, actions);
}

void FlareEngine::refuse(Tree& tree, const wire::FlareHeader& contribution, BlockKind kind,
                         PortIndex port, engine::Actions& actions) {
  ++tree.counters.refusals_sent;
  const auto headers = tree.headers_for(refusal_of(contribution, kind));
  frames_.send({headers.bytes(), {}, port}, port, actions);
}

// Of the sum that went up. The tags that it is made of are not here any more: each child is told
// when it sends its own again.
void FlareEngine::take_refusal(Incoming in, const Burst& burst) {
  auto& [tree, slot, packet, frame, header, bytes] = in;
  ++tree.counters.refusals;
  if (slot.is_of(in.block()) && slot.state == Slot::State::summed &&
      slot.header.fingerprint == header.fingerprint) {
    slot.refused = BlockKind{header.element_type, header.op};
  }
  burst.actions.absorb(std::move(packet));
}

}  // namespace tributary::flare
