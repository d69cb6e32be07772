// SPDX-License-Identifier: BSD-3-Clause
// What goes down the tree in shards, and is kept for those who lose it; and how somebody who has it
// is found where it is lost, as for dense blocks (results.cpp).
#include <bit>
#include <utility>

#include "engine/port_bitmap.h"
#include "protocols/flare/engine/drop_reasons.h"
#include "protocols/flare/engine/repeat_interval.h"
#include "protocols/flare/engine/sparse_engine.h"

namespace tributary::flare {
namespace {

// What asks for the result of that block.
wire::FlareSparseHeader sparse_inquiry_about(const wire::FlareSparseHeader& about) {
  auto header = about;
  header.kind = wire::FlareKind::inquiry;
  header.flags = wire::FlareSparseHeader::sparse_bit | wire::FlareSparseHeader::current_version;
  wire::seal(header, {});
  return header;
}

bool is_of_one_result(const wire::FlareSparseHeader& a, const wire::FlareSparseHeader& b) {
  return a.edition == b.edition && a.shards == b.shards;
}

}  // namespace

// From the parent, or from a child that was asked, as dense results.
void SparseEngine::take_result(Incoming in, const Burst& burst) {
  auto& [tree, blocks, slot, packet, frame, header, payload] = in;
  const auto drop_it = [&](DropReason reason) { burst.actions.drop(std::move(in.packet), reason); };
  const bool begins = !in.is_of_slot();
  const bool continues =
      !begins && slot.result_shards != 0 && is_of_one_result(slot.result_header(), header);
  if (!begins && (slot.state == SparseSlot::State::done ||
                  (continues && (slot.result_shards >> header.shard & 1) != 0))) {
    ++tree.counters.duplicates;
    return drop_it(drop::duplicate);
  }
  if (!begins && !is_like(slot.header, header)) {
    return drop_it(drop::mismatch);
  }
  if (frame.ipv4->ttl <= 1) {
    return drop_it(DropReason::ttl_exceeded);
  }
  if (begins) {
    blocks.begin(slot, header, burst.now);
  } else if (!continues) {
    blocks.let_go_of_result(slot);
  }
  pass_on(in, burst);
  if (slot.has_result()) {
    blocks.finish(slot);
  }
}

// At once, whatever else is missing.
void SparseEngine::pass_on(Incoming& in, const Burst& burst) {
  auto& [tree, blocks, slot, packet, frame, header_in_packet, payload] = in;
  const Cause cause{tree, slot, packet->ingress, burst};
  const bool from_parent = tree.ports().is_parent(cause.ingress);
  ++(from_parent ? tree.counters.sparse_results : tree.counters.sparse_answers);
  auto header = header_in_packet;
  header.flags = wire::FlareSparseHeader::sparse_bit | wire::FlareSparseHeader::current_version;
  wire::reseal(header);
  const auto ttl = static_cast<std::uint8_t>(frame.ipv4->ttl - 1);
  packet->narrow_to(sizeof(SparseHeaders), payload.size());
  memory_.take(1);
  burst.actions.absorb(nullptr);
  auto receivers = tree.ports().all_children();
  if (!from_parent) {
    receivers &= ~(std::uint64_t{1} << tree.ports().child_of(cause.ingress));
  }
  multicast(cause, header, std::move(packet), ttl, receivers);
  if (!from_parent && !tree.is_root()) {
    send_again(cause, slot.result[header.shard], wire::FlareHeader::answer_bit,
               *tree.config().parent);
  }
}

// Keeps a shard of the result, and sends it to these children.
void SparseEngine::multicast(const Cause& cause, const wire::FlareSparseHeader& header,
                             PacketPtr payload, std::uint8_t ttl, std::uint64_t children) {
  auto& tree = cause.tree;
  auto& slot = cause.slot;
  slot.result_shards |= std::uint32_t{1} << header.shard;
  auto& body = tree.sparse()->keep(slot.result[header.shard], header, std::move(payload),
                                   static_cast<unsigned>(std::popcount(children)));
  const auto headers = tree.headers_for(header, ttl);
  engine::for_each_child(children, [&](std::size_t child) {
    frames_.send_sharing(body, headers.bytes(), tree.config().children[child], cause.burst.actions);
  });
}

void SparseEngine::send_again(const Cause& cause, const KeptShard& shard, std::uint8_t flags,
                              PortIndex port) {
  auto header = shard.header;
  header.flags |= flags;
  wire::reseal(header);
  const auto headers = cause.tree.headers_for(header);
  frames_.send({headers.bytes(), shard.elements.bytes(), cause.ingress}, port, cause.burst.actions);
}

// All shards of the result, to where the packet came from.
void SparseEngine::replay(const Cause& cause, std::uint8_t flags) {
  ++cause.tree.counters.replays;
  const std::size_t shards = cause.slot.result_header().shards;
  const auto begin = rotation_.next(shards);
  for (std::size_t i = 0; i < shards; ++i) {
    send_again(cause, cause.slot.result[(begin + i) % shards], flags, cause.ingress);
  }
}

// All shards of the sum, or what there is of it.
void SparseEngine::send_sum_again(const Cause& cause, std::uint8_t flags) {
  ++cause.tree.counters.resent;
  const std::size_t shards = cause.slot.sent;
  const auto begin = rotation_.next(shards);
  for (std::size_t i = 0; i < shards; ++i) {
    send_again(cause, cause.slot.up[(begin + i) % shards], flags, *cause.tree.config().parent);
  }
}

void SparseEngine::resend(const Cause& cause, std::uint8_t flags) {
  if (is_time(cause.slot.told, cause.burst.now)) {
    send_sum_again(cause, flags);
  }
}

void SparseEngine::take_inquiry(Incoming in, const Burst& burst) {
  auto& [tree, blocks, slot, packet, frame, header, payload] = in;
  // Not a question again, or two switches would ask each other for ever.
  constexpr auto sum_flags = wire::FlareHeader::retransmission_bit | wire::FlareHeader::answer_bit;
  const Cause cause{tree, slot, packet->ingress, burst};
  ++tree.counters.inquiries;
  if (!in.is_of_slot()) {
    inquire(cause, header, tree.ports().all_children());
  } else if (slot.state == SparseSlot::State::done) {
    replay(cause, wire::FlareHeader::answer_bit);
  } else if (slot.state == SparseSlot::State::summed) {
    resend(cause, sum_flags);
  } else if (is_time(slot.told, burst.now)) {
    if (slot.sent != 0) {
      send_sum_again(cause, sum_flags);
    }
    inquire(cause, slot.header, blocks.missing(slot));
  }
  burst.actions.absorb(std::move(packet));
}

// Those of whom a block lacks something that gathers.
void SparseEngine::ask_missing(const Cause& cause) {
  if (is_time(cause.slot.told, cause.burst.now)) {
    inquire(cause, cause.slot.header, cause.tree.sparse()->missing(cause.slot));
  }
}

void SparseEngine::inquire(const Cause& cause, const wire::FlareSparseHeader& about,
                           std::uint64_t children) {
  ++cause.tree.counters.inquiries_sent;
  const auto headers = cause.tree.headers_for(sparse_inquiry_about(about));
  frames_.send({headers.bytes(), {}, cause.ingress}, cause.tree.config().children, children,
               cause.burst.actions);
}

}  // namespace tributary::flare
