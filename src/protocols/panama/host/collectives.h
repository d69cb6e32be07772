// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
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
#include "host/partial_result.h"
#include "host/verdict.h"
#include "protocols/panama/host/absence.h"
#include "protocols/panama/host/chunks.h"
#include "protocols/panama/host/packets.h"
#include "protocols/panama/host/plan.h"
#include "protocols/panama/host/retention.h"
#include "protocols/panama/host/statistics.h"
#include "protocols/panama/host/tree.h"
#include "protocols/panama/wire.h"

namespace tributary::host {

// Runs one rank's part in the PANAMA collectives of one job: it sends its packets to the job's
// aggregation trees in turn, as fast as each tree lets it, and takes the results. Switches replay
// what was lost; what they have forgotten, a rank that has it sends them.
class PanamaCollectives final : public Machine {
 public:
  // Precondition: one to wire::panama_trees_max trees; at least two ranks, which agreed on
  // everything in `job` and `plan`, and on the number of the first collective.
  PanamaCollectives(Job job, PanamaPlan plan, const PanamaTuning& tuning = {},
                    std::uint32_t first_epoch = 0);

  // Starts a collective of at most Chunks::count_max packets.
  void begin(const Call& call, Time now, const Deadline& deadline) override;
  void skip(const Call& call) override;
  void abandon() override;
  // Sets the payload of a full packet of the collectives that begin from now on: no more than at
  // first. All ranks have to do so, between the same two collectives.
  void set_payload(std::uint32_t bytes) { job_.payload_bytes = bytes; }
  // Sets how many ranks a result needs, likewise; results that were kept are forgotten.
  void set_quorum(std::uint32_t quorum);

  void receive(std::span<const Arrival> burst, Time now) override;
  void poll(Outbox& outbox, Time now) override;
  Time deadline() const override;
  void expire(Time now) override;

  bool running() const override { return running_; }
  bool retaining() const override { return retaining_; }

  const Job& job() const override { return job_; }
  const PanamaPlan& plan() const { return plan_; }
  PanamaStatistics statistics() const;

  // Returns what lacks whom in the result of the last collective, in the order of the elements.
  std::vector<PartialResult> partial_results() const;

 private:
  bool partial() const { return plan_.quorum < job_.world_size(); }
  Verdict examine(const Arrival& arrival, Time now);
  Verdict take_result(const wire::PanamaView& view, bool marked, Time now);
  void note_missed(std::uint32_t epoch);
  Verdict stash(const Arrival& arrival);
  bool is_result(const wire::PanamaHeader& header, const wire::RankMask& mask) const;
  void keep(const PanamaKeptHeader& header, wire::Bytes elements);
  void finish();
  Verdict note_inquiry(const wire::PanamaHeader& header);
  void answer(Outbox& outbox);
  void send_up(std::uint32_t tree, const PanamaRetention::Result& result, std::uint8_t flags,
               Outbox& outbox);
  void push(std::uint32_t tree, const wire::PanamaHeader& header, wire::Bytes elements,
            wire::Bytes mask, Outbox& outbox);
  bool has_all_results() const;
  void send(std::uint32_t tree, const PanamaTree::Sending& sending, Outbox& outbox);
  std::string diagnose() const;

  Job job_;
  PanamaPlan plan_;
  std::vector<PanamaTree> trees_;
  PanamaStatistics statistics_;
  std::uint64_t mismatches_before_ = 0;  // when the call began
  std::uint64_t below_quorum_ = 0;       // results of the call that lack more than they may
  std::vector<std::byte> zeros_;         // what contributes nothing to a broadcast

  std::vector<std::byte> own_mask_;  // with this rank alone; empty if all are needed
  PanamaAbsence absence_;

  bool running_ = false;
  bool abandoned_ = true;  // nothing is to be sent any more
  std::uint32_t run_;
  std::uint32_t epoch_ = 0;  // of the collective that runs or ran last
  std::uint32_t next_epoch_;
  std::uint32_t missed_epoch_;  // the latest of which a result was dropped, or began
  JobKey key_{};
  PanamaChunks chunks_;
  std::uint32_t turn_ = 0;  // the tree whose turn it is to send
  Deadline deadline_;

  std::vector<PanamaRetention> retention_;  // by tree
  bool retaining_ = false;                  // the collective is over, though not for all, perhaps
  std::deque<PanamaPlace> asked_;           // the results of these were asked for

  // These are results of the next collective, which others finished without this rank.
  struct Early {
    std::vector<std::byte> bytes;
    std::uint8_t ecn = 0;
  };
  std::vector<Early> stash_;
};

}  // namespace tributary::host
