// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "host/error.h"
#include "host/outbox.h"
#include "host/verdict.h"
#include "protocols/canary/host/collective_state.h"
#include "protocols/canary/wire.h"

namespace tributary::host {

// Does the contributor's part (3.1, 3.3): sends this rank's data of every block that another rank
// leads, takes the results, asks the leader when one does not come, and contributes again when told
// so.
class CanaryWorker {
 public:
  // The state outlives the worker.
  explicit CanaryWorker(CollectiveState& state);

  void begin();

  // Puts contributions and requests into `outbox` as far as it and the window have room.
  void poll(Outbox& outbox, Time now);

  // These take sound packets of this job for `block` of the collective that runs.
  Verdict take_result(const wire::CanaryHeader& header, wire::Bytes payload, std::uint32_t block,
                      Time now);
  Verdict take_failure(const wire::CanaryHeader& header, std::uint32_t block);
  Verdict take_pending(const wire::CanaryHeader& header, wire::Bytes payload, std::uint32_t block);

  Time deadline() const { return next_check_; }
  void expire(Time now);

  // Is set when a leader has given a block up that the hosts must not reduce.
  const std::optional<Error>& failure() const { return failure_; }

  // Returns the attempt by which `block`, which is in flight, is reduced.
  std::uint8_t attempt(std::uint32_t block) const { return entry(block).attempt; }
  // Returns whether the leader of `block` does not answer any more, to be said at the deadline.
  bool is_unanswered(std::uint32_t block) const;
  // Returns the leaders of blocks in flight that do not answer.
  std::vector<std::uint32_t> silent_leaders() const;
  // Returns the ranks that the leader of `block` waits for, as it told; empty if it told nothing.
  std::vector<std::uint32_t> awaited(std::uint32_t block) const;
  // Returns how many results did not have each rank in them once, as this rank's handler combines
  // them.
  std::uint64_t disbelieved() const { return disbelieved_; }

 private:
  // This is a block in flight. Entries lie by block modulo reach.
  struct Entry {
    std::uint8_t attempt = 0;
    std::uint8_t expirations = 0;
    bool again = false;             // waits in again_
    bool asking = false;            // waits in asking_
    bool asked = false;             // under this attempt
    bool awaits_ranks = false;      // the leader said so, under this attempt
    bool congested = false;         // a queue on the way of what came of it
    std::uint8_t unanswered = 0;    // requests since the leader's last answer
    std::uint32_t done_before = 0;  // blocks, when it was sent
    Time sent_at{};
    Time timer_from{};
  };
  // This block is done because the leader was asked; its result may still be on the way.
  struct Overdue {
    std::uint32_t id = 0;
    Time sent_at = never;
  };
  // This is the last `pending` about the lowest block.
  struct Awaited {
    static constexpr std::size_t ranks_max = 64;
    std::uint32_t block = 0;
    std::size_t count = 0;
    std::array<std::uint16_t, ranks_max> ranks{};
  };

  Entry& entry(std::uint32_t block) { return entries_[block % entries_.size()]; }
  const Entry& entry(std::uint32_t block) const { return entries_[block % entries_.size()]; }
  bool in_flight(std::uint32_t block) const;
  bool is_by_leader(const wire::CanaryHeader& header, std::uint32_t block) const;
  bool is_total(const wire::CanaryHeader& header) const;
  Time due(const Entry& entry) const;
  void contribute(std::uint32_t block, Outbox& outbox, Time now);
  void request(std::uint32_t block, Outbox& outbox, Time now);
  void look_at_base();
  void measure(const wire::CanaryHeader& header, const Entry& entry, Time now);
  void count_needless(Time now);
  void measure_overdue(const wire::CanaryHeader& header, std::uint32_t block, Time now);

  CollectiveState& state_;
  std::vector<Entry> entries_;
  std::vector<Overdue> overdue_;       // by block modulo reach
  std::vector<std::uint32_t> again_;   // to be contributed again
  std::vector<std::uint32_t> asking_;  // to be asked about
  Time newest_sent_{};                 // when the latest contribution was sent whose result is in
  Duration newest_rtt_{};              // how long that took
  Time next_check_ = never;            // not later than the first timer
  Time request_pause_until_{};
  Awaited awaited_;
  std::uint64_t disbelieved_ = 0;
  std::optional<Error> failure_;
};

}  // namespace tributary::host
