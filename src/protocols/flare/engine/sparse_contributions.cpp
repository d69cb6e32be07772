// SPDX-License-Identifier: BSD-3-Clause
// This file handles what comes up the tree in shards, and what becomes of it when nothing is
// missing.
#include <utility>

#include "engine/port_bitmap.h"
#include "protocols/flare/engine/drop_reasons.h"
#include "protocols/flare/engine/sparse_engine.h"

namespace tributary::flare {
namespace {

// Returns the tag of a shard that is not the last one. Whatever it is, the last one has what is
// left, so that a sum has the tags of its ranks only with each of its shards in it once, all of one
// edition.
std::uint64_t tag_of(std::uint64_t edition, std::size_t shard) {
  return wire::mix_key(edition, std::uint64_t{shard + 1} << 56);
}

}  // namespace

void SparseEngine::contribute(Incoming& in) {
  const auto& blocks = *in.tree.sparse();
  const auto child = in.child();
  bool anew = !in.is_of_slot();
  if (!anew) {
    if (!is_like(in.slot.header, in.header)) {
      return in.drop(drop::mismatch);
    }
    const auto& from = blocks.child(in.slot, child);
    // What has come wholly stays, whatever its edition; shards of two editions are of two sums.
    const bool is_taken = in.slot.state != SparseSlot::State::gathering || in.slot.has(child);
    anew = !is_taken && from.has_begun() && from.edition != in.header.edition.value();
    if (is_taken || (!anew && from.has(in.header))) {
      return repeat(in);
    }
    if (!anew && !from.may_have(in.header)) {
      return in.drop(drop::shard);
    }
  }
  if (in.header.is_last() && !blocks.fits(in.slot, anew, in.header, child)) {
    return in.drop(drop::mismatch);
  }
  accept(in, child, anew);
}

void SparseEngine::accept(Incoming& in, std::size_t child, bool anew) {
  auto& [tree, slot, ingress, burst] = static_cast<Cause&>(in);
  auto& blocks = *tree.sparse();
  const bool begins = !in.is_of_slot();
  if (begins) {
    blocks.begin(slot, in.header, burst.now);
  } else if (anew) {
    ++tree.counters.sparse_restarts;
    blocks.begin_anew(slot, burst.now);
  }
  outgoing_.clear();
  if (!blocks.add(slot, child, in.header, in.payload, outgoing_)) {
    if (begins) {
      blocks.clear(slot);
    }
    return in.drop(DropReason::no_buffer);
  }
  ++tree.counters.sparse_contributions;
  const bool asks = in.header.asks();
  in.absorb();
  for (std::size_t i = 0; i < outgoing_.size(); ++i) {
    ++tree.counters.sparse_spills;
    send_up(in, outgoing_[i], false);
  }
  if (blocks.missing(slot) == 0) {
    complete(in);
  } else if (asks || (anew && !begins)) {
    ask_missing(in);  // somebody may have the result of what was sent before
  }
}

// Whoever sends again lacks the result.
void SparseEngine::repeat(Incoming& in) {
  ++in.tree.counters.duplicates;
  if (in.slot.state == SparseSlot::State::done) {
    if (in.header.is_last() && in.header.retransmission()) {
      replay(in, 0);
    }
  } else if (in.header.asks()) {
    if (in.slot.state == SparseSlot::State::summed) {
      resend(in, wire::FlareHeader::retransmission_bit);
    } else {
      ask_missing(in);
    }
  }
  in.drop(drop::duplicate);
}

void SparseEngine::complete(const Cause& cause) {
  auto& [tree, slot, ingress, burst] = cause;
  tree.note_sum();
  ++tree.counters.sparse_sums;
  outgoing_.clear();
  tree.sparse()->take_sum(slot, outgoing_);
  slot.told = burst.now;
  if (tree.is_root()) {
    return publish(cause);
  }
  for (std::size_t i = 0; i < outgoing_.size(); ++i) {
    send_up(cause, outgoing_[i], i + 1 == outgoing_.size());
  }
}

// Sends up the next shard of the sum.
void SparseEngine::send_up(const Cause& cause, SparseShard& shard, bool is_last) {
  auto& [tree, slot, ingress, burst] = cause;
  auto header = slot.header;
  if (slot.asked) {  // whoever asks wants to be answered above as well
    header.flags |= wire::FlareHeader::retransmission_bit;
  }
  header.form = shard.form;
  header.elements = shard.elements;
  header.first = shard.first;
  header.edition = slot.edition;
  const auto tag = is_last ? slot.pending : tag_of(slot.edition, slot.sent);
  slot.pending -= tag;
  header.fingerprint = tag;
  header.shard = static_cast<std::uint8_t>(slot.sent);
  if (is_last) {
    header.shards = static_cast<std::uint8_t>(slot.sent + 1);
    header.contributions = static_cast<std::uint16_t>(slot.contributions);
  }
  shard.payload->ingress = ingress;
  shard.payload->over_ipv6 = tree.bearing.over_ipv6;
  wire::seal(header, std::as_const(*shard.payload).bytes());
  auto& body = tree.sparse()->keep(slot.up[slot.sent++], header, std::move(shard.payload), 1);
  frames_.send_sharing(body, tree.headers_for(header).bytes(), *tree.config().parent,
                       burst.actions);
}

// The sum of the root is the result. It takes the place of what has come of one.
void SparseEngine::publish(const Cause& cause) {
  auto& [tree, slot, ingress, burst] = cause;
  auto& blocks = *tree.sparse();
  blocks.let_go_of_result(slot);
  auto header = slot.header;
  header.kind = wire::FlareKind::result;
  header.contributions = header.workers;
  header.edition = slot.edition;
  header.fingerprint = slot.fingerprint;
  header.shards = static_cast<std::uint8_t>(outgoing_.size());
  for (std::size_t i = 0; i < outgoing_.size(); ++i) {
    auto& shard = outgoing_[i];
    header.form = shard.form;
    header.elements = shard.elements;
    header.first = shard.first;
    header.shard = static_cast<std::uint8_t>(i);
    wire::seal(header, std::as_const(*shard.payload).bytes());
    shard.payload->ingress = ingress;
    shard.payload->over_ipv6 = tree.bearing.over_ipv6;
    ++tree.counters.sparse_results;
    multicast(cause, std::move(shard.payload), tree.headers_for(header),
              tree.ports().all_children());
  }
  blocks.finish(slot);
}

}  // namespace tributary::flare
