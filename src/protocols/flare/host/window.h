// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "host/clock.h"
#include "host/rtt_estimator.h"
#include "host/verdict.h"
#include "protocols/flare/host/plan.h"
#include "protocols/flare/host/stagger.h"

namespace tributary::host {

// Keeps one rank's blocks in flight, known by their numbers in the collective: which may be sent,
// which are to be sent again, which are done. Nothing is sent beyond the lowest block without a
// result by the window or more: the switches take that for a proof that all before have theirs.
class FlareWindow {
 public:
  // `seed` draws the timers: another one for each rank and job.
  FlareWindow(const FlarePlan& plan, const FlareTuning& tuning, std::uint32_t rank,
              std::uint32_t world_size, std::uint64_t seed);

  void begin(std::uint32_t blocks);
  // Lets the blocks of the collective that has begun wait from `first` on for a result of those
  // before them, and no longer than until then.
  void hold(std::uint32_t first, Time until);

  struct Sending {
    std::uint32_t block = 0;
    bool again = false;
  };
  // Returns a block that is to be sent now; it counts as sent. What was lost comes first.
  std::optional<Sending> next(Time now);
  // Notes that a block in flight is sent because somebody asked for it.
  void note_answer(std::uint32_t block, Time now);

  // Takes a sound result. Precondition: sent(block).
  Verdict take(std::uint32_t block, Time now);

  Time deadline() const;
  void expire(Time now);

  bool finished() const { return base_ == blocks_; }
  // Returns the lowest block without a result, or the end.
  std::uint32_t base() const { return base_; }
  bool sent(std::uint32_t block) const;
  // Returns whether the block was sent, and is without a result.
  bool lacks(std::uint32_t block) const { return sent(block) && !is_done(block); }
  std::uint32_t blocks() const { return blocks_; }
  std::uint32_t begun() const { return begun_; }  // so many were sent
  std::uint32_t in_flight() const { return in_flight_; }
  // Returns the lowest of those in flight, so many at most.
  std::vector<std::uint32_t> lowest_in_flight(std::size_t most) const;
  std::uint64_t timeouts() const { return timeouts_; }

 private:
  struct Entry {
    bool done = false;
    bool sent = false;
    bool again = false;   // was sent more than once
    bool queued = false;  // in again_
    bool by_timer = false;
    bool timed = false;       // how long it takes tells about the network
    std::uint64_t order = 0;  // of its last sending, among all
    Time sent_at{};
    Time overtaken = never;  // since when, by a result of what was sent later
  };

  Entry& entry(std::uint32_t block) { return entries_[block & (entries_.size() - 1)]; }
  const Entry& entry(std::uint32_t block) const { return entries_[block & (entries_.size() - 1)]; }
  bool is_done(std::uint32_t block) const { return block < base_ || entry(block).done; }
  std::uint32_t limit() const;
  Time timer() const;
  Duration patience() const;
  void note_sending(std::uint32_t block, Time now);
  void repeat(std::uint32_t block);
  void learn(const Entry& entry, Time now);
  void note_overtaken(std::uint32_t block, Time now);
  void repeat_overtaken(Time now);
  void repeat_lowest(Time now);
  void advance();

  std::uint32_t window_;
  Stagger stagger_;
  RttEstimator rtt_;
  Duration rto_max_;
  std::uint64_t seed_;
  std::vector<Entry> entries_;  // by block; a power of two
  std::uint32_t blocks_ = 0;
  std::uint32_t base_ = 0;            // the lowest that is not done
  std::uint32_t end_ = 0;             // behind the highest that was sent
  std::uint32_t begun_ = 0;           // so many were sent
  std::uint32_t in_flight_ = 0;       // of these, not done
  std::uint32_t seen_ = 0;            // start of the latest group that has a result
  std::vector<std::uint32_t> holes_;  // below that, without
  std::deque<std::uint32_t> again_;   // to be sent again
  std::uint64_t order_ = 0;
  Time timer_from_{};           // when the last progress was made
  Time overtaken_due_ = never;  // when something of holes_ is to be sent again
  unsigned expirations_ = 0;    // since timer_from_
  std::uint32_t burst_ = 1;     // how many are sent again when the timer runs out next
  bool answered_ = false;       // a result came: the others are there
  std::uint32_t held_from_ = 0;
  Time held_until_ = never;  // never: nothing is held
  std::uint64_t timeouts_ = 0;
};

}  // namespace tributary::host
