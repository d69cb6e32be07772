// SPDX-License-Identifier: BSD-3-Clause
// This file is what a leader does when contributions are missing or wrong (3.3).
#include <algorithm>
#include <string>

#include "host/text.h"
#include "protocols/canary/host/leader.h"

namespace tributary::host {
namespace {

// Timers of a new attempt begin doubled that often: it may queue behind whole windows, and giving
// it up as well would only make them longer.
constexpr unsigned patient_reminders = 2;

}  // namespace

Verdict CanaryLeader::take_request(const wire::CanaryHeader& header, std::uint32_t block,
                                   Time now) {
  if (!is_authentic(header, state_.job, state_.blocks.key())) {
    return Verdict::foreign;
  }
  const std::uint32_t rank = header.rank.value();
  const auto attempt = wire::canary_attempt(header.id.value());
  const auto sent_end = state_.blocks.block_of_sequence(header.children.value());
  if (sent_end <= state_.blocks.count()) {
    state_.presence.has_sent(rank, sent_end);
  }
  if (attempt_done(block) != not_done) {
    deferred_.push({DeferredReply::Kind::replay, header.id.value(), rank,
                    reply_to(state_.job.peers[rank]), header.congested()});
    return Verdict::taken;
  }
  auto* const slot = open(block, now);
  if (slot == nullptr || slot->state != State::collecting) {
    return Verdict::early;
  }
  slot->congested |= header.congested();
  // The rank does not know of the new attempt; or its contribution, which can be told from the
  // others, did not come.
  if (attempt < slot->attempt ||
      (attempt == wire::canary_direct_attempt && !slot->counted.contains(rank))) {
    deferred_.push(
        {DeferredReply::Kind::failure, state_.blocks.id(block, slot->attempt), rank, {}});
    return Verdict::taken;
  }
  if (attempt > slot->attempt) {
    return Verdict::foreign;
  }
  slot->heard.add(rank);
  if (attempt == wire::canary_direct_attempt || !all_sent(*slot) || waits_for_itself(*slot)) {
    deferred_.push({DeferredReply::Kind::pending, header.id.value(), rank, {}});
    return Verdict::taken;
  }
  if (!slot->all_known) {
    slot->all_known = true;
    slot->quiet_since = now;
    slot->patience_until = now + state_.rtt.timeout(0);
  }
  watch(*slot);
  return Verdict::taken;
}

bool CanaryLeader::knows_sent(const Slot& slot, std::uint32_t rank) const {
  if (slot.attempt == wire::canary_direct_attempt) {
    return slot.counted.contains(rank);
  }
  return slot.heard.contains(rank) ||
         (slot.attempt == 0 && state_.presence.knows_sent(rank, slot.block));
}

// Who is known to have sent stays so for the attempt: each rank is looked at once, however many
// requests come.
bool CanaryLeader::all_sent(Slot& slot) const {
  const auto world = state_.job.world_size();
  while (slot.known_below < world &&
         (slot.known_below == state_.job.rank || knows_sent(slot, slot.known_below))) {
    ++slot.known_below;
  }
  return slot.known_below == world;
}

// Returns whether all contributions but the leader's own are in, as can be with the completion.
bool CanaryLeader::waits_for_itself(const Slot& slot) const {
  return slot.contributions >= state_.job.world_size() - 1;
}

// Returns when what did not come is taken for lost. If all ranks miss the result, what is on the
// way has a little time to come; if only some do, though all have sent, it has as long as a worker
// waits. In a first attempt ranks that may not have sent are waited for; later all have begun, and
// failures get lost as well as contributions.
Time CanaryLeader::due(const Slot& slot) const {
  if (waits_for_itself(slot)) {
    return never;
  }
  const auto quiet = slot.quiet_since + state_.rtt.quiet();
  return slot.heard.size() == state_.job.world_size() - 1 ? quiet
                                                          : std::max(slot.patience_until, quiet);
}

void CanaryLeader::watch(Slot& slot) {
  if (!slot.watched) {
    slot.watched = true;
    watched_.push_back(slot.block);
  }
  next_check_ = std::min(next_check_, due(slot));
}

void CanaryLeader::expire(Time now) {
  if (now < next_check_) {
    return;
  }
  next_check_ = never;
  std::erase_if(watched_, [&](std::uint32_t block) {
    return !holds(slot_of(block), block) || slot_of(block).state != State::collecting;
  });
  for (const auto block : watched_) {
    auto& slot = slot_of(block);
    if (now >= due(slot)) {
      slot.attempt == wire::canary_direct_attempt ? remind(slot, now) : fail(slot, now);
    }
    next_check_ = std::min(next_check_, due(slot));
  }
}

// Tells those ranks again that have not sent their part of a block that each sends directly.
void CanaryLeader::remind(Slot& slot, Time now) {
  slot.patience_until = now + state_.rtt.timeout(++slot.reminders);
  tell(slot);
}

void CanaryLeader::tell(Slot& slot) {
  if (slot.notified == state_.job.world_size()) {
    notifying_.push_back(slot.block);
  }
  slot.notified = 0;
}

// Has the block reduced under a new id; nobody has a result of it.
void CanaryLeader::fail(Slot& slot, Time now) {
  const auto next = slot.attempt + 1u;
  if (next < state_.tuning.attempts_max) {
    reissue(slot, next, now);
  } else if (state_.tuning.host_fallback) {
    reissue(slot, wire::canary_direct_attempt, now);
  } else {
    auto why = std::to_string(next) + " attempts lost contributions";
    if (needs_handler(state_.blocks.call())) {
      why += ", or " + different_handlers(state_.blocks.op());
    }
    give_up(slot, now, why);
  }
}

// Where the hosts must not reduce a block themselves, being told to do so ends it for the others.
void CanaryLeader::give_up(Slot& slot, Time now, const std::string& why) {
  given_up_ = Error{Error::Code::network, "block " + std::to_string(slot.block) + " (led by rank " +
                                              std::to_string(state_.job.rank) +
                                              ") could not be reduced in the network: " + why +
                                              ", and a fallback to the hosts is not allowed"};
  reissue(slot, wire::canary_direct_attempt, now);
}

void CanaryLeader::reissue(Slot& slot, std::uint32_t attempt, Time now) {
  slot.releases.clear();
  for (const auto& sender : slot.contributors) {
    if (sender.is_switch) {
      slot.releases.push_back(sender.reply);
    }
  }
  slot.released_attempt = slot.attempt;
  slot.attempt = static_cast<std::uint8_t>(attempt);
  clear(slot, now);
  slot.reminders = patient_reminders;
  slot.patience_until = now + state_.rtt.timeout(slot.reminders);
  ++state_.statistics.blocks_reissued;
  tell(slot);
  watch(slot);
}

// Puts all that a failed block entails into the outbox; returns whether it is there.
bool CanaryLeader::notify_all(Slot& slot, Outbox& outbox) {
  const auto& blocks = state_.blocks;
  for (; slot.notified < state_.job.world_size() && !outbox.full(); ++slot.notified) {
    if (slot.notified != state_.job.rank && !slot.counted.contains(slot.notified)) {
      auto packet = control(state_.job, blocks, wire::CanaryKind::failure,
                            blocks.id(slot.block, slot.attempt), slot.notified);
      seal(packet.header, {});
      packet.send(outbox);
    }
  }
  for (; !slot.releases.empty() && !outbox.full(); slot.releases.pop_back()) {
    release(state_.job, blocks, blocks.id(slot.block, slot.released_attempt), slot.releases.back())
        .send(outbox);
  }
  return slot.notified == state_.job.world_size() && slot.releases.empty();
}

std::vector<std::uint32_t> CanaryLeader::missing(std::uint32_t block, std::size_t most) const {
  std::vector<std::uint32_t> ranks;
  const auto& slot = slot_of(block);
  const bool held = holds(slot, block);
  const auto world = state_.job.world_size();
  for (auto rank = held ? slot.known_below : 0; rank < world && ranks.size() < most; ++rank) {
    const bool known = held ? knows_sent(slot, rank) : state_.presence.knows_sent(rank, block);
    if (rank != state_.job.rank && !known) {
      ranks.push_back(rank);
    }
  }
  return ranks;
}

}  // namespace tributary::host
