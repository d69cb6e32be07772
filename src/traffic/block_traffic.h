// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "packet/clock.h"
#include "packet/pool.h"
#include "traffic/block_values.h"
#include "traffic/traffic.h"

namespace tributary::traffic {

// All kinds of aggregation are told this.
struct BlockPlan {
  std::uint16_t workers = 8;  // of each job
  std::uint32_t jobs = 1;
  // So many blocks begin together: every worker sends its part in all of them before the next does.
  std::uint32_t interleave = 8;
  std::vector<Reduction> kinds = {Reduction{}};  // jobs take them in turn
  // A block has so much time to be done after its last contribution.
  Duration block_timeout = std::chrono::seconds(1);
};

// A Turn is the blocks that begin together: every worker sends its part of all before the next
// worker does.
struct Turn {
  std::uint64_t first = 0;  // of the blocks
  std::uint32_t count = 0;
  std::uint32_t rank = 0;   // whose turn it is
  std::uint32_t place = 0;  // in which block, counted from `first`

  // Returns false if that was the last packet of the last worker.
  bool advance(std::uint32_t workers) {
    if (++place == count) {
      place = 0;
      ++rank;
    }
    return rank < workers;
  }
};

// BlockTraffic is what all kinds of aggregation have in common: a unit is a block, to which every
// worker of a job contributes, and which is done when all have its result.
class BlockTraffic : public Traffic {
 public:
  void send(std::size_t most, Time now, Pacer& pacer, Outbox& out) final;
  void receive(PacketList arrivals, std::size_t port, Time now, Outbox& out) final;
  Time deadline() const final;
  std::uint64_t under_way() const final { return in_flight_; }

 protected:
  // `jobs` jobs take turns: an index below it names one.
  BlockTraffic(Duration block_timeout, std::size_t jobs)
      : block_timeout_(block_timeout), jobs_(jobs) {}

  static std::uint64_t bit(std::uint32_t rank) { return std::uint64_t{1} << rank; }

  // All kinds keep this of a block.
  struct OpenBlock {
    bool open = false;
    std::uint32_t trial = 0;
    std::uint32_t sent = 0;     // contributions, but for those that were sent again
    std::uint64_t waiting = 0;  // ranks without the result, a bit each
    Time since{};               // when the last contribution was sent
  };
  // All kinds count this, since the trial began.
  struct CommonFigures {
    std::uint64_t results = 0;
    std::uint64_t given_up = 0;
    std::uint64_t duplicates = 0;
    std::uint64_t invalid = 0;
  };

  struct Contribution {
    PacketPtr packet;      // null: there is no buffer
    std::size_t port = 0;  // by which it leaves
  };
  // Returns whether there is a packet to send: in the turn that goes on, or in that of the next job
  // that has blocks to begin.
  virtual bool has_contribution();
  // Begins blocks of that job, and makes them `turn_`; returns false if it has none now, or may
  // not.
  virtual bool begin_blocks(std::size_t job) = 0;
  // Returns a contribution to `turn_`, of the job `sending_`, and then advances the turn, or ends
  // it (`is_sending_`).
  virtual Contribution next_contribution(Time now) = 0;
  virtual void arrived(PacketPtr packet, std::size_t port, Time now, Outbox& out) = 0;
  virtual void clear_figures() = 0;

  bool may_begin() const { return !is_closed(); }
  // Returns whether it is time to look for blocks that have waited for too long; the caller then
  // does.
  bool looks_now(Time now);
  bool is_overdue(Time since, Time now) const { return now - since >= block_timeout_; }

  bool is_of_trial(const OpenBlock& block) const { return block.trial == trial_; }
  // Opens a block that all of `workers` workers wait for.
  OpenBlock opened(std::uint32_t workers);
  // Counts a result that came to a rank, of the block itself or of one that had its place before.
  // Returns false if the rank does not wait for it any more.
  bool note_result(OpenBlock& block, bool is_of_block, std::uint32_t rank);
  // Counts a block whose result all workers have.
  void count_done(const OpenBlock& block, Time now);
  void mark_closed(OpenBlock& block);

  CommonFigures common_;
  Turn turn_;
  std::size_t sending_ = 0;
  bool is_sending_ = false;

 private:
  void epoch_begins() final;

  Duration block_timeout_;
  std::size_t jobs_;
  std::size_t next_job_ = 0;
  std::uint64_t in_flight_ = 0;
  std::uint32_t trial_ = 0;
  Time checked_{};
};

}  // namespace tributary::traffic
