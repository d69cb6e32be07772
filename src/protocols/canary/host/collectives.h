// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/call.h"
#include "host/clock.h"
#include "host/deadline.h"
#include "host/error.h"
#include "host/job.h"
#include "host/machine.h"
#include "host/outbox.h"
#include "host/verdict.h"
#include "protocols/canary/host/collective_state.h"
#include "protocols/canary/host/deferred_replies.h"
#include "protocols/canary/host/leader.h"
#include "protocols/canary/host/retention.h"
#include "protocols/canary/host/statistics.h"
#include "protocols/canary/host/tuning.h"
#include "protocols/canary/host/worker.h"

namespace tributary::host {

// Runs one rank's part in the Canary collectives of one job: it contributes to most blocks, and
// leads some. Sequence numbers of blocks go up over collectives. Packets of the next one, which
// come early from peers that are done with this one, are kept; and what this rank led in the last
// one can still be asked for.
class CanaryCollectives final : public Machine {
 public:
  // Precondition: at least two ranks, which agreed on everything in `job` and on the number of the
  // first block.
  explicit CanaryCollectives(Job job, const CanaryTuning& tuning = {},
                             std::uint32_t first_sequence = 0);

  // Starts a collective of less than Blocks::count_max blocks.
  void begin(const Call& call, Time now, const Deadline& deadline) override;
  void skip(const Call& call) override;
  void abandon() override { running_ = false; }
  // Sets the payload of a full block of the collectives that begin from now on: no more than at
  // first. All ranks have to do so, between the same two collectives.
  void set_payload(std::uint32_t bytes) { state_.job.payload_bytes = bytes; }
  // Makes a block that the hosts reduced without any switch a failure, from now on.
  void require_switches() { state_.switches_required = true; }

  void receive(std::span<const Arrival> burst, Time now) override;
  // `ecn` is what its IP header has.
  void receive(wire::MutableBytes datagram, Time now, std::uint8_t ecn = wire::ecn::not_ect);
  void poll(Outbox& outbox, Time now) override;
  // At its deadline the machine expires: it asks for what is late, has blocks reduced again, or
  // gives up.
  Time deadline() const override;
  void expire(Time now) override;

  bool running() const override { return running_; }
  bool retaining() const override { return retention_.active(); }
  bool listening() const override { return retaining() || refused(); }

  const Job& job() const override { return state_.job; }
  const CanaryStatistics& statistics() const { return state_.statistics; }

 private:
  Verdict examine(wire::MutableBytes datagram, std::uint8_t ecn, Time now);
  Verdict dispatch(const wire::CanaryHeader& header, wire::Bytes payload, std::uint32_t block,
                   Time now);
  Verdict take_contribution(const wire::CanaryHeader& header, wire::Bytes payload,
                            std::uint32_t block, Time now);
  Verdict take_past(const wire::CanaryHeader& header);
  Verdict stash(const wire::CanaryHeader& header, wire::MutableBytes datagram);
  void count_sent(const Datagram& datagram);
  bool is_stranger(const wire::CanaryHeader& header) const;
  Blocks blocks_of(const Call& call) const;
  const std::optional<Error>& fault() const;
  // Returns whether the last collective ended because hosts must not reduce.
  bool refused() const { return !running_ && fault(); }
  void send_deferred(Outbox& outbox);
  void send(const DeferredReply& deferred, Outbox& outbox);
  void replay(const DeferredReply& deferred, Outbox& outbox);
  void tell_pending(const DeferredReply& deferred, Outbox& outbox);
  void stop(std::optional<Error> failure);

  CollectiveState state_;
  DeferredReplies deferred_;
  CanaryWorker worker_;
  CanaryLeader leader_;
  Retention retention_;
  bool running_ = false;
  std::uint32_t next_sequence_;                // first of the next collective
  std::uint64_t next_call_ = 0;                // its number
  std::vector<std::vector<std::byte>> stash_;  // contributions to the next collective, as they came
  // These are payloads of pending packets, used in turn. There are more than can be in an outbox
  // and on their way to the socket.
  static constexpr std::size_t pending_lists = 1024;
  static constexpr std::size_t pending_bytes = 128;
  std::vector<std::array<std::byte, pending_bytes>> lists_;
  std::size_t next_list_ = 0;
};

}  // namespace tributary::host
