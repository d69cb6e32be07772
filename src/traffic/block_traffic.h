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

// What all kinds of aggregation are told.
struct BlockPlan {
  std::uint16_t workers = 8;  // of each job
  std::uint32_t jobs = 1;
  // Blocks that begin together: every worker sends its part in all of them before the next does.
  std::uint32_t interleave = 8;
  std::vector<Reduction> kinds = {Reduction{}};  // jobs take them in turn
  // After its last contribution, for a block to be done.
  Duration block_timeout = std::chrono::seconds(1);
};

// Blocks that begin together: every worker sends its own of all before the next worker does.
struct Turn {
  std::uint64_t first = 0;  // of the blocks
  std::uint32_t count = 0;
  std::uint32_t rank = 0;   // whose turn it is ...
  std::uint32_t place = 0;  // ... and in which block

  // False: that was the last packet of the last worker.
  bool advance(std::uint32_t workers) {
    if (++place == count) {
      place = 0;
      ++rank;
    }
    return rank < workers;
  }
};

// What all kinds of aggregation have in common: a unit is a block, to which every worker of a job
// contributes, and which is done when all have its result.
class BlockTraffic : public Traffic {
 public:
  void send(std::size_t most, Time now, Pacer& pacer, Outbox& out) final;
  void receive(PacketList arrivals, std::size_t port, Time now, Outbox& out) final;
  Time deadline() const final;
  std::uint64_t under_way() const final { return in_flight_; }
  void begin_epoch() final;
  void close() final { closed_ = true; }
  const Counters& counters() const final { return counters_; }
  const Histogram& latency() const final { return latency_; }
  std::uint64_t wrong() const final { return wrong_; }

 protected:
  explicit BlockTraffic(Duration block_timeout) : block_timeout_(block_timeout) {}

  static std::uint64_t bit(std::uint32_t rank) { return std::uint64_t{1} << rank; }

  struct Contribution {
    PacketPtr packet;      // null: there is no buffer
    std::size_t port = 0;  // by which it leaves
  };
  // Whether there is a packet to send; begins blocks if need be and may_begin().
  virtual bool has_contribution() = 0;
  virtual Contribution next_contribution(Time now) = 0;
  virtual void arrived(PacketPtr packet, std::size_t port, Time now, Outbox& out) = 0;
  virtual void clear_figures() = 0;

  bool may_begin() const { return !closed_; }
  // Whether it is time to look for blocks that have waited for too long, which then is done.
  bool looks_now(Time now);
  bool is_overdue(Time since, Time now) const { return now - since >= block_timeout_; }

  std::uint32_t trial() const { return trial_; }
  void count_begun();
  // All workers have the result of a block that began in that trial.
  void count_done(std::uint32_t trial, Time since, Time now);
  void count_closed() { --in_flight_; }

  Counters counters_;
  std::uint64_t wrong_ = 0;

 private:
  Duration block_timeout_;
  std::uint64_t in_flight_ = 0;
  std::uint32_t trial_ = 0;
  bool closed_ = false;
  Time checked_{};
  Histogram latency_;
};

}  // namespace tributary::traffic
