// SPDX-License-Identifier: BSD-3-Clause
// This file handles what goes down the tree in shards, and is kept for those who lose it; and it
// finds somebody who has it where it is lost, as for dense blocks (results.cpp).
#include <bit>
#include <utility>

#include "engine/port_bitmap.h"
#include "protocols/flare/engine/drop_reasons.h"
#include "protocols/flare/engine/repeat_interval.h"
#include "protocols/flare/engine/sparse_engine.h"

namespace tributary::flare {
namespace {

// Returns the header that asks for the result of that block.
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

// Takes a shard from the parent, or from a child that was asked, as dense results come.
void SparseEngine::take_result(Incoming& in) {
  auto& [tree, slot, ingress, burst] = static_cast<Cause&>(in);
  auto& blocks = *tree.sparse();
  const bool begins = !in.is_of_slot();
  const bool continues =
      !begins && slot.result_shards != 0 && is_of_one_result(slot.result_header(), in.header);
  if (!begins && (slot.state == SparseSlot::State::done ||
                  (continues && (slot.result_shards >> in.header.shard & 1) != 0))) {
    ++tree.counters.duplicates;
    return in.drop(drop::duplicate);
  }
  if (!begins && !is_like(slot.header, in.header)) {
    return in.drop(drop::mismatch);
  }
  if (!in.may_be_result()) {
    return in.drop(drop::unasked);
  }
  if (in.frame.ipv4->ttl <= 1) {
    return in.drop(DropReason::ttl_exceeded);
  }
  if (begins) {
    blocks.begin(slot, in.header, burst.now);
  } else if (!continues) {
    blocks.let_go_of_result(slot);
  }
  pass_on(in);
  if (slot.has_result()) {
    blocks.finish(slot);
  }
}

// Passes a shard on at once, whatever else is missing.
void SparseEngine::pass_on(Incoming& in) {
  auto& tree = in.tree;
  ++(in.is_from_parent() ? tree.counters.sparse_results : tree.counters.sparse_answers);
  const bool parent_waits = in.parent_waits();
  auto header = in.header;
  header.flags = wire::FlareSparseHeader::sparse_bit | wire::FlareSparseHeader::current_version;
  wire::reseal(header);
  const auto ttl = static_cast<std::uint8_t>(in.frame.ipv4->ttl - 1);
  in.packet->narrow_to(sizeof(SparseHeaders), in.payload.size());
  memory_.take(1);
  in.burst.actions.absorb(nullptr);
  multicast(in, std::move(in.packet), tree.headers_for(header, ttl), in.other_children());
  if (parent_waits) {
    send_again(in, in.slot.result[header.shard], wire::FlareHeader::answer_bit,
               *tree.config().parent);
  }
}

// Keeps a shard of the result, and sends it to these children.
void SparseEngine::multicast(const Cause& cause, PacketPtr payload, const SparseHeaders& headers,
                             std::uint64_t children) {
  auto& [tree, slot, ingress, burst] = cause;
  const auto& header = headers.flare;
  slot.result_shards |= std::uint32_t{1} << header.shard;
  auto& body = tree.sparse()->keep(slot.result[header.shard], header, std::move(payload),
                                   static_cast<unsigned>(std::popcount(children)));
  const auto& ports = tree.config().children;
  engine::for_each_child(children, [&, &actions = burst.actions](std::size_t child) {
    frames_.send_sharing(body, headers.bytes(), ports[child], actions);
  });
}

void SparseEngine::send_again(const Cause& cause, const KeptShard& shard, std::uint8_t flags,
                              PortIndex port) {
  auto header = shard.header;
  header.flags |= flags;
  wire::reseal(header);
  const auto headers = cause.tree.headers_for(header);
  frames_.send(
      {headers.bytes(), shard.elements.bytes(), cause.ingress, cause.tree.bearing.over_ipv6}, port,
      cause.burst.actions);
}

// Sends all shards of the result to where the packet came from.
void SparseEngine::replay(const Cause& cause, std::uint8_t flags) {
  ++cause.tree.counters.replays;
  const std::size_t shards = cause.slot.result_header().shards;
  const auto begin = rotation_.next(shards);
  for (std::size_t i = 0; i < shards; ++i) {
    send_again(cause, cause.slot.result[(begin + i) % shards], flags, cause.ingress);
  }
}

// Sends all shards of the sum again, or what there is of it.
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

void SparseEngine::take_inquiry(Incoming& in) {
  // This is not a question again, or two switches would ask each other for ever.
  constexpr auto sum_flags = wire::FlareHeader::retransmission_bit | wire::FlareHeader::answer_bit;
  ++in.tree.counters.inquiries;
  if (!in.is_of_slot()) {
    if (is_time(in.slot.told, in.burst.now)) {  // as for dense blocks
      inquire(in, in.header, in.tree.ports().all_children());
    }
  } else if (in.slot.state == SparseSlot::State::done) {
    replay(in, wire::FlareHeader::answer_bit);
  } else if (in.slot.state == SparseSlot::State::summed) {
    resend(in, sum_flags);
  } else if (is_time(in.slot.told, in.burst.now)) {
    if (in.slot.sent != 0) {
      send_sum_again(in, sum_flags);
    }
    inquire(in, in.slot.header, in.tree.sparse()->missing(in.slot));
  }
  in.slot.inquired.note_parent(in.header);
  in.absorb();
}

// Asks the children of whom a block that gathers lacks something.
void SparseEngine::ask_missing(const Cause& cause) {
  if (is_time(cause.slot.told, cause.burst.now)) {
    inquire(cause, cause.slot.header, cause.tree.sparse()->missing(cause.slot));
  }
}

void SparseEngine::inquire(const Cause& cause, const wire::FlareSparseHeader& about,
                           std::uint64_t children) {
  cause.slot.inquired.note(about, children);
  ++cause.tree.counters.inquiries_sent;
  const auto headers = cause.tree.headers_for(sparse_inquiry_about(about));
  frames_.send({headers.bytes(), {}, cause.ingress, cause.tree.bearing.over_ipv6},
               cause.tree.config().children, children, cause.burst.actions);
}

}  // namespace tributary::flare
