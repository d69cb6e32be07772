// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
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
#include "host/kept_results.h"
#include "host/machine.h"
#include "host/outbox.h"
#include "host/verdict.h"
#include "protocols/flare/host/opening.h"
#include "protocols/flare/host/packets.h"
#include "protocols/flare/host/plan.h"
#include "protocols/flare/host/sparse_collective.h"
#include "protocols/flare/host/statistics.h"
#include "protocols/flare/host/window.h"
#include "protocols/flare/wire.h"

namespace tributary::host {

// Runs one rank's part in the Flare collectives of one job: it sends its blocks up the job's
// reduction tree, a window of them at a time, and takes the results. What was lost it sends again;
// what switches have forgotten, a rank that has it sends them when they ask.
//
// A sparse allreduce begins with a dense one, its opening, by which the ranks agree on its blocks.
class FlareCollectives final : public Machine {
 public:
  // Precondition: at least two ranks, which agreed on everything in `job` and `plan`; the window is
  // 1 to wire::flare_window_max.
  FlareCollectives(Job job, FlarePlan plan, const FlareTuning& tuning = {});

  // Returns whether it takes sparse calls.
  bool has_sparse() const { return sparse_.has_value(); }

  // Starts a collective of at most Chunks::count_max blocks. A sparse call has an element or more.
  void begin(const Call& call, Time now, const Deadline& deadline) override;
  void skip(const Call& call) override;
  void abandon() override;
  // Sets the payload of a full packet of the collectives that begin from now on: no more than at
  // first. All ranks have to do so, between the same two collectives.
  void set_payload(std::uint32_t bytes) { job_.payload_bytes = bytes; }

  void receive(std::span<const Arrival> burst, Time now) override;
  void poll(Outbox& outbox, Time now) override;
  Time deadline() const override;
  void expire(Time now) override;

  bool running() const override { return running_; }
  bool retaining() const override { return retaining_; }

  const Job& job() const override { return job_; }
  const FlarePlan& plan() const { return plan_; }
  FlareStatistics statistics() const;

 private:
  void begin_dense(const Call& call, Time now);
  Call dense_part_of(const Call& call);
  void end_opening();
  Verdict examine(const Arrival& arrival, Time now);
  Verdict examine_dense(const Arrival& arrival, Time now);
  Verdict note_inquiry(std::uint64_t block);
  Verdict take_result(const wire::FlareHeader& header, wire::Bytes payload, Time now);
  Verdict take_refusal(const wire::FlareHeader& header);
  bool is_sound(const wire::FlareHeader& header) const;
  void keep(const wire::FlareHeader& header, wire::Bytes payload);
  void hold_back(Time now);
  void finish();
  void fail_with(Error::Code code, std::string why);
  void answer(Outbox& outbox, Time now);
  void contribute(std::uint32_t index, std::uint8_t flags, Outbox& outbox);
  void push(const wire::FlareHeader& header, wire::Bytes payload, Outbox& outbox);
  bool runs_sparse() const { return sparse_ && sparse_->running(); }
  std::string diagnose() const;

  Job job_;
  FlarePlan plan_;
  FlareWindow window_;
  Duration pause_;  // after calls that were refused here
  // Keeps the latest results by block, for ranks that did not get theirs: they may ask when
  // switches have forgotten them, and when the caller's buffers are gone. Whoever has sent a block
  // has all results that are a window before it, so nobody lacks more than these.
  KeptResults<wire::FlareHeader> kept_;
  FlareStatistics statistics_;
  std::uint64_t mismatches_before_ = 0;  // when the call began
  std::vector<std::byte> zeros_;         // what contributes nothing to a broadcast
  std::optional<FlareSparseCollective> sparse_;

  bool running_ = false;
  Call call_;  // that runs or ran last
  FlareOpening opening_;
  bool retaining_ = false;  // the collective is over, though not for all, perhaps
  FlareBlocks blocks_;      // of the collective that runs or ran last
  std::uint64_t next_block_ = 0;
  std::uint64_t made_ = 0;         // behind the blocks of the last call that was not refused here
  std::uint64_t made_before_ = 0;  // the same before the call that runs or ran last
  std::uint64_t next_call_ = 0;
  std::deque<std::uint64_t> asked_;  // these blocks' results were asked for
  Deadline deadline_;
};

}  // namespace tributary::host
