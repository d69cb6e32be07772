// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/host/leader.h"

#include <algorithm>
#include <cstring>

#include "host/tags.h"

namespace tributary::host {
namespace {

// f32 accumulators of 8-bit floats take four times the payload's room.
constexpr std::size_t accumulator_growth = 4;

}  // namespace

CanaryLeader::CanaryLeader(CollectiveState& state, DeferredReplies& deferred)
    : state_(state),
      deferred_(deferred),
      accumulator_stride_(state.job.payload_bytes * accumulator_growth) {
  grow(state.progress.span() / state.job.world_size() + 2);
}

void CanaryLeader::grow(std::size_t slots) {
  slots_.assign(slots, Slot(state_.job.world_size()));
  // They are not initialised: what is never used should not take memory.
  accumulators_ = std::make_unique_for_overwrite<std::byte[]>(slots * accumulator_stride_);
  answering_.reserve(slots);
  notifying_.reserve(slots);
  watched_.reserve(slots);
  free_accumulators_.reserve(slots);
}

void CanaryLeader::begin() {
  const auto& blocks = state_.blocks;
  const auto led = blocks.led_count(state_.job.rank);
  const auto needed = std::min<std::size_t>(led, state_.progress.span());
  if (blocks.rooted() && needed > slots_.size()) {
    grow(needed);
  }
  free_accumulators_.clear();
  // Only slots that the collective comes by are freed: with a large window there are many more.
  for (std::size_t i = std::min<std::size_t>(slots_.size(), led); i > 0; --i) {
    slots_[i - 1].state = State::free;
    free_accumulators_.push_back(static_cast<std::uint32_t>(i - 1));
  }
  attempts_done_.assign(led, not_done);
  answering_.clear();
  notifying_.clear();
  watched_.clear();
  next_check_ = never;
  failure_.reset();
  given_up_.reset();
  kernel_ = &reduce::kernel(blocks.type(), blocks.op());
}

// Returns the slot of a block that is not done; null if it belongs to another block, for no honest
// peer is that far ahead.
CanaryLeader::Slot* CanaryLeader::open(std::uint32_t block, Time now) {
  auto& slot = slots_[state_.blocks.led_index(block) % slots_.size()];
  if (slot.state != State::free) {
    return slot.block == block ? &slot : nullptr;
  }
  slot.state = State::collecting;
  slot.block = block;
  slot.attempt = 0;
  slot.accumulator = free_accumulators_.back();
  free_accumulators_.pop_back();
  slot.notified = state_.job.world_size();
  slot.releases.clear();
  slot.watched = false;
  slot.patience_until = never;
  slot.congested = false;
  clear(slot, now);
  return &slot;
}

void CanaryLeader::clear(Slot& slot, Time now) {
  slot.contributions = 0;
  slot.fingerprint = 0;
  slot.switched = false;
  slot.contributors.clear();
  slot.answered = 0;
  slot.counted.clear();
  slot.heard.clear();
  slot.known_below = 0;
  slot.all_known = false;
  slot.quiet_since = now;
}

Verdict CanaryLeader::take(const wire::CanaryHeader& header, wire::Bytes payload,
                           std::uint32_t block, Time now) {
  if (!agrees(header, state_.job, state_.blocks, state_.blocks.bytes_up(block))) {
    return Verdict::mismatch;
  }
  const std::uint32_t rank = header.rank.value();
  const bool alone = rank != wire::CanaryHeader::no_rank;
  const auto attempt = wire::canary_attempt(header.id.value());
  // A contribution that was not summed up yet can be told from a stranger's.
  if (alone ? !is_authentic_contribution(header, state_.job, state_.blocks.key())
            : attempt == wire::canary_direct_attempt) {
    ++state_.statistics.fingerprint_rejections;
    return Verdict::foreign;
  }
  if (alone) {
    state_.presence.has_sent(rank, block + 1);
  }
  if (attempt_done(block) != not_done) {
    return take_late(header);
  }
  auto* const slot = open(block, now);
  if (slot == nullptr) {
    return Verdict::early;
  }
  slot->congested |= header.congested();
  if (attempt != slot->attempt) {
    return attempt < slot->attempt ? take_stale(header, *slot) : Verdict::foreign;
  }
  if (is_counted(*slot, header)) {
    return Verdict::duplicate;
  }
  if (alone) {
    slot->counted.add(rank);
    slot->heard.add(rank);
    state_.deadline.progress(now);
  }
  state_.statistics.switch_sums_seen += alone ? 0 : 1;
  slot->switched |= !alone || (header.bypass() && !is_direct(header));
  slot->quiet_since = now;
  add(*slot, header, payload);
  finish_if_complete(*slot, now);
  return Verdict::taken;
}

// Answers a contribution to a block that is done. A worker that sends again has no result. What
// comes from a switch is a copy, or a stranger's: those get no data.
Verdict CanaryLeader::take_late(const wire::CanaryHeader& header) {
  const bool by_switch = header.rank.value() == wire::CanaryHeader::no_rank;
  const auto kind = by_switch ? DeferredReply::Kind::release : DeferredReply::Kind::replay;
  deferred_.push(
      {kind, header.id.value(), wire::CanaryHeader::no_rank, reply_to(header), header.congested()});
  return Verdict::duplicate;
}

// Answers a contribution of an attempt that was given up.
Verdict CanaryLeader::take_stale(const wire::CanaryHeader& header, const Slot& slot) {
  const std::uint32_t rank = header.rank.value();
  if (rank == wire::CanaryHeader::no_rank) {
    deferred_.push({DeferredReply::Kind::release, header.id.value(), 0, reply_to(header)});
  } else {
    deferred_.push(
        {DeferredReply::Kind::failure, state_.blocks.id(slot.block, slot.attempt), rank, {}});
  }
  return Verdict::stale;
}

bool CanaryLeader::is_counted(const Slot& slot, const wire::CanaryHeader& header) const {
  const std::uint32_t rank = header.rank.value();
  if (rank != wire::CanaryHeader::no_rank) {
    return slot.counted.contains(rank);
  }
  return std::any_of(slot.contributors.begin(), slot.contributors.end(), [&](const auto& known) {
    return known.fingerprint == header.fingerprint.value() &&
           known.reply.child_address == header.child_address &&
           known.reply.child_port.value() == header.child_port.value();
  });
}

void CanaryLeader::add(Slot& slot, const wire::CanaryHeader& header, wire::Bytes payload) {
  if (state_.blocks.data_goes_up()) {
    const auto apply = slot.contributions == 0 ? kernel_->load : kernel_->accumulate;
    apply(accumulator(slot), payload.data(), header.elements.value());
  }
  if (slot.contributions != 0) {
    slot.fingerprint += state_.blocks.mark(slot.block);
  }
  slot.contributions += header.counter.value();
  slot.fingerprint += header.fingerprint.value();
  slot.contributors.push_back({reply_to(header), header.fingerprint.value(),
                               header.rank.value() == wire::CanaryHeader::no_rank});
}

void CanaryLeader::finish_if_complete(Slot& slot, Time now) {
  if (slot.contributions < state_.job.world_size() - 1) {
    return;
  }
  if (!is_complete(slot)) {
    ++state_.statistics.fingerprint_rejections;
    fail(slot, now);
    return;
  }
  // Before this, what a switch has added up proves nothing: a stranger could keep the collective
  // waiting.
  state_.deadline.progress(now);
  if (state_.switches_required && !slot.switched) {
    give_up(slot, now, "no switch took part");
    return;
  }
  // The leader's own part in the last block is that it is done with the others.
  if (!state_.blocks.is_completion(slot.block) || state_.progress.only_completion_left()) {
    finish(slot);
  }
}

// Each of the other ranks must be in the sum exactly once; a counter alone would not notice one
// packet that came twice and another that was lost.
bool CanaryLeader::is_complete(const Slot& slot) const {
  return slot.contributions == state_.job.world_size() - 1 &&
         total(slot) ==
             total_tag(state_.job, state_.blocks, state_.blocks.id(slot.block, slot.attempt));
}

// Returns the fingerprint with this rank's part, which is combined last.
std::uint64_t CanaryLeader::total(const Slot& slot) const {
  const auto& blocks = state_.blocks;
  return slot.fingerprint + blocks.mark(slot.block) +
         tag_of(blocks.key(), blocks.id(slot.block, slot.attempt), state_.job.rank);
}

void CanaryLeader::finish(Slot& slot) {
  store(slot);
  choose_answers(slot);
  slot.state = State::answering;
  free_accumulators_.push_back(slot.accumulator);
  attempts_done_[state_.blocks.led_index(slot.block)] = slot.attempt;
  state_.statistics.blocks_by_hosts += slot.switched ? 0 : 1;
  state_.statistics.blocks_in_network += slot.switched ? 1 : 0;
  answering_.push_back(slot.block);
}

void CanaryLeader::store(const Slot& slot) {
  const auto in = state_.blocks.in(slot.block);
  const auto out = state_.blocks.out(slot.block);
  if (in.empty()) {
    return;
  }
  if (!state_.blocks.data_goes_up()) {  // of a broadcast, whose root may not write its elements
    if (out.data() != in.data()) {
      std::memmove(out.data(), in.data(), in.size());
    }
    return;
  }
  auto* const sum = accumulator(slot);
  const auto elements = state_.blocks.elements(in.size());
  kernel_->accumulate(sum, in.data(), elements);
  kernel_->store(out.data(), sum, elements);
}

// Leaves one answer for each sender.
void CanaryLeader::choose_answers(Slot& slot) {
  const auto bytes_less = [](const Contributor& a, const Contributor& b) {
    return std::memcmp(&a.reply, &b.reply, sizeof(Reply)) < 0;
  };
  const auto bytes_equal = [](const Contributor& a, const Contributor& b) {
    return std::memcmp(&a.reply, &b.reply, sizeof(Reply)) == 0;
  };
  auto& senders = slot.contributors;
  std::sort(senders.begin(), senders.end(), bytes_less);
  senders.erase(std::unique(senders.begin(), senders.end(), bytes_equal), senders.end());
}

void CanaryLeader::poll(Outbox& outbox) {
  if (state_.progress.only_completion_left()) {
    const auto block = state_.progress.base();
    if (state_.blocks.leader(block) == state_.job.rank) {
      auto& slot = slot_of(block);
      if (holds(slot, block) && slot.state == State::collecting && is_complete(slot)) {
        finish(slot);
      }
    }
  }
  std::size_t answered = 0;
  while (answered < answering_.size() && answer_all(slot_of(answering_[answered]), outbox)) {
    ++answered;
  }
  answering_.erase(answering_.begin(), answering_.begin() + static_cast<std::ptrdiff_t>(answered));
  while (!notifying_.empty() && notify_all(slot_of(notifying_.back()), outbox)) {
    notifying_.pop_back();
  }
  if (given_up_ && notifying_.empty()) {
    failure_ = given_up_;
  }
}

// Puts the answers to a block that is done into the outbox; returns whether all are there.
bool CanaryLeader::answer_all(Slot& slot, Outbox& outbox) {
  const auto id = state_.blocks.id(slot.block, slot.attempt);
  const auto payload = state_.blocks.down(slot.block);
  const Sum sum{payload, total(slot), wire::CanaryHeader::no_rank, slot.congested};
  for (; slot.answered < slot.contributors.size() && !outbox.full(); ++slot.answered) {
    answer(state_.job, state_.blocks, id, slot.contributors[slot.answered].reply, sum).send(outbox);
  }
  if (slot.answered < slot.contributors.size()) {
    return false;
  }
  slot.state = State::free;
  state_.complete(slot.block, slot.congested);
  return true;
}

std::uint8_t CanaryLeader::attempt(std::uint32_t block) const {
  const auto& slot = slot_of(block);
  return holds(slot, block) ? slot.attempt : std::uint8_t{0};
}

std::uint32_t CanaryLeader::contributions(std::uint32_t block) const {
  const auto& slot = slot_of(block);
  return holds(slot, block) ? slot.contributions : 0;
}

}  // namespace tributary::host
