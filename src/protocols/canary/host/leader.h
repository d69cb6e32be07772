// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "host/error.h"
#include "host/outbox.h"
#include "host/verdict.h"
#include "protocols/canary/host/collective_state.h"
#include "protocols/canary/host/deferred_replies.h"
#include "protocols/canary/host/packets.h"
#include "protocols/canary/host/rank_set.h"
#include "protocols/canary/wire.h"
#include "reduce/kernel.h"

namespace tributary::host {

// Does the leader's part (3.1.4, 3.2.1, 3.3): adds up the contributions to the blocks that this
// rank leads, then its own, checks that each rank is in the sum once, and answers every sender.
// What cannot become a right sum any more is reduced again under the next attempt, at last by the
// leader alone. A block that is done stays done: its result is all that is ever sent.
class CanaryLeader {
 public:
  static constexpr std::uint8_t not_done = 0xff;

  // The state and the deferred replies outlive the leader.
  CanaryLeader(CollectiveState& state, DeferredReplies& deferred);

  void begin();

  // Takes a sound contribution of this job to `block`, which this rank leads.
  Verdict take(const wire::CanaryHeader& header, wire::Bytes payload, std::uint32_t block,
               Time now);
  // Takes a sound request about `block`, which this rank leads.
  Verdict take_request(const wire::CanaryHeader& header, std::uint32_t block, Time now);

  // Puts results, restorations and failures into `outbox` as far as it has room. A block is
  // complete when all its answers were put there.
  void poll(Outbox& outbox);

  Time deadline() const { return next_check_; }
  void expire(Time now);

  // Is set when a block could not be reduced and the hosts must not do it.
  const std::optional<Error>& failure() const { return failure_; }

  // Returns the attempt by which `block`, which this rank leads, was reduced; or not_done.
  std::uint8_t attempt_done(std::uint32_t block) const {
    return attempts_done_[state_.blocks.led_index(block)];
  }
  const std::vector<std::uint8_t>& attempts_done() const { return attempts_done_; }
  std::uint8_t attempt(std::uint32_t block) const;
  // Returns how many contributions to `block` are in.
  std::uint32_t contributions(std::uint32_t block) const;
  // Returns the ranks that are not known to have contributed to `block`; at most `most`.
  std::vector<std::uint32_t> missing(std::uint32_t block, std::size_t most) const;

 private:
  enum class State : std::uint8_t { free, collecting, answering };
  struct Contributor {
    Reply reply;
    std::uint64_t fingerprint = 0;
    bool is_switch = false;
  };
  struct Slot {
    explicit Slot(std::uint32_t ranks) : counted(ranks), heard(ranks) {}
    State state = State::free;
    std::uint8_t attempt = 0;
    bool watched = false;    // in watched_
    bool all_known = false;  // all are known to have sent
    unsigned reminders = 0;  // how often the ranks were told of this attempt
    std::uint32_t block = 0;
    std::uint32_t contributions = 0;
    std::uint32_t accumulator = 0;
    std::uint64_t fingerprint = 0;
    bool switched = false;          // a switch added up, or would have if it had had room
    bool congested = false;         // a queue on the way of anything that came, under any attempt
    RankSet counted;                // came by themselves, under this attempt
    RankSet heard;                  // are known to have sent, under this attempt
    std::uint32_t known_below = 0;  // all ranks below this one are known to have sent
    Time quiet_since{};
    Time patience_until = never;            // with those that are not known to have sent
    std::vector<Contributor> contributors;  // not more than contributions
    std::size_t answered = 0;               // of contributors, in the outbox
    // All ranks below this one were told to contribute again. After the last, releases go out.
    std::uint32_t notified = 0;
    std::uint32_t released_attempt = 0;
    std::vector<Reply> releases;
  };

  Slot& slot_of(std::uint32_t block) {
    return slots_[state_.blocks.led_index(block) % slots_.size()];
  }
  const Slot& slot_of(std::uint32_t block) const {
    return slots_[state_.blocks.led_index(block) % slots_.size()];
  }
  bool holds(const Slot& slot, std::uint32_t block) const {
    return slot.state != State::free && slot.block == block;
  }
  Slot* open(std::uint32_t block, Time now);
  void clear(Slot& slot, Time now);
  void grow(std::size_t slots);
  std::byte* accumulator(const Slot& slot) const {
    return accumulators_.get() + slot.accumulator * accumulator_stride_;
  }

  Verdict take_late(const wire::CanaryHeader& header);
  Verdict take_stale(const wire::CanaryHeader& header, const Slot& slot);
  bool is_counted(const Slot& slot, const wire::CanaryHeader& header) const;
  void add(Slot& slot, const wire::CanaryHeader& header, wire::Bytes payload);
  void finish_if_complete(Slot& slot, Time now);
  bool is_complete(const Slot& slot) const;
  std::uint64_t total(const Slot& slot) const;
  void finish(Slot& slot);
  void store(const Slot& slot);
  void choose_answers(Slot& slot);
  bool answer_all(Slot& slot, Outbox& outbox);

  bool knows_sent(const Slot& slot, std::uint32_t rank) const;
  bool all_sent(Slot& slot) const;
  Time due(const Slot& slot) const;
  void watch(Slot& slot);
  void remind(Slot& slot, Time now);
  void tell(Slot& slot);
  void fail(Slot& slot, Time now);
  void give_up(Slot& slot, Time now, const std::string& why);
  void reissue(Slot& slot, std::uint32_t attempt, Time now);
  bool waits_for_itself(const Slot& slot) const;
  bool notify_all(Slot& slot, Outbox& outbox);

  CollectiveState& state_;
  DeferredReplies& deferred_;
  std::vector<Slot> slots_;  // by number among the blocks that this rank leads
  std::size_t accumulator_stride_;
  std::unique_ptr<std::byte[]> accumulators_;
  std::vector<std::uint32_t> free_accumulators_;  // the last one is still in the cache
  const reduce::Kernel* kernel_ = nullptr;
  std::vector<std::uint8_t> attempts_done_;  // by number among the blocks that this rank leads
  std::vector<std::uint32_t> answering_;     // blocks, in the order in which they were reduced
  std::vector<std::uint32_t> notifying_;     // blocks that failed
  std::vector<std::uint32_t> watched_;       // blocks that may fail
  Time next_check_ = never;
  std::optional<Error> given_up_;  // the failure, while the others are being told
  std::optional<Error> failure_;
};

}  // namespace tributary::host
