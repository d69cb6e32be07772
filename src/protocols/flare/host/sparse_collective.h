// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "host/call.h"
#include "host/clock.h"
#include "host/deadline.h"
#include "host/job.h"
#include "host/outbox.h"
#include "host/sparse_part.h"
#include "host/verdict.h"
#include "protocols/flare/host/plan.h"
#include "protocols/flare/host/sparse_contribution.h"
#include "protocols/flare/host/sparse_packets.h"
#include "protocols/flare/host/sparse_result.h"
#include "protocols/flare/host/statistics.h"
#include "protocols/flare/host/window.h"
#include "protocols/flare/rotation.h"
#include "protocols/flare/sparse_wire.h"
#include "wire/cursor.h"

namespace tributary::host {

// Runs what follows the opening of a sparse allreduce: its blocks, each in shards up the tree and
// in shards down again (7). They are numbered beside the dense ones, from 0 in each run, and have a
// window of their own.
class FlareSparseCollective {
 public:
  // Serves that job, by the plan's window of sparse blocks. Precondition: there are any, and
  // flare_sparse_full() of the job is not 0. What is counted and the job outlive this.
  FlareSparseCollective(const Job& job, const FlarePlan& plan, const FlareTuning& tuning,
                        FlareStatistics& statistics);

  // Returns the block behind the last that this rank knows of. Nobody needs to have had all before
  // it.
  std::uint64_t next_block() const { return blocks_.end(); }
  // Begins under the opening's key; the blocks begin with `first`, and `present` is what the rank
  // brings that has most. Precondition: there is an element.
  void begin(const SparseCall& call, const JobKey& key, std::uint64_t first, std::uint64_t present);
  void abandon();
  // Writes the sum, as the ring would. Precondition: finished().
  void finish();

  // Takes what is_flare_sparse(). A block that is done is progress, shards are not: switches that
  // forget over and over could send shards for ever.
  Verdict examine(wire::MutableBytes bytes, Time now, Deadline& deadline);
  void poll(Outbox& outbox, Time now);
  Time deadline() const { return running_ ? window_.deadline() : never; }
  void expire(Time now);

  bool running() const { return running_; }
  bool finished() const { return window_.finished(); }
  const FlareWindow& window() const { return window_; }
  std::uint64_t first() const { return blocks_.first; }

 private:
  // These are shards of one block that are sent one after the other, as the outbox has room.
  struct Series {
    std::uint64_t block = 0;
    std::uint8_t flags = 0;
    std::uint32_t next = 0;  // shard, in the order of sending
    bool of_result = false;
    std::size_t begin = 0;  // which of them comes first

    std::uint32_t shard(std::size_t shards) const {
      return static_cast<std::uint32_t>((begin + next) % shards);
    }
  };

  Verdict note_inquiry(std::uint64_t block);
  Verdict take_result(const wire::FlareSparseHeader& header, wire::Bytes payload, Time now,
                      Deadline& deadline);
  bool is_like(const wire::FlareSparseHeader& header, std::uint32_t index) const;
  Verdict complete(std::uint64_t block, Time now, Deadline& deadline);
  std::optional<Series> next_series(Time now);
  bool answer(Series& series, Outbox& outbox, Time now);
  bool contribute(Series& series, Outbox& outbox);
  bool send_result(Series& series, Outbox& outbox);
  void push(const wire::FlareSparseHeader& header, wire::Bytes payload, Outbox& outbox);

  const Job& job_;
  FlarePlan plan_;
  FlareStatistics& statistics_;
  FlareWindow window_;
  SparseContributions contributions_;
  SparseResults results_;

  bool running_ = false;
  SparseCall call_;
  FlareSparseBlocks blocks_;       // of the collective that runs or ran last
  std::vector<SparsePart> parts_;  // of the sum, by index
  std::optional<Series> sending_;
  std::deque<Series> asked_;
  flare::Rotation rotation_;
};

}  // namespace tributary::host
