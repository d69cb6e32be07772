// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "host/clock.h"
#include "host/congestion_window.h"
#include "host/rtt_estimator.h"
#include "host/verdict.h"
#include "protocols/panama/host/plan.h"

namespace tributary::host {

// Keeps one rank's packets in one aggregation tree, known by their numbers (VIDs) in the
// collective: which may be sent, which are to be sent again, which are done. Trees know nothing of
// each other.
class PanamaTree {
 public:
  // Other trees and other ranks have another `salt`.
  PanamaTree(const PanamaPlan& plan, const PanamaTuning& tuning, std::uint64_t salt);

  void begin(std::uint32_t packets);
  // The others have gone on, and switches have results of what is next.
  void leave_out() { left_out_ = true; }

  struct Sending {
    std::uint32_t vid = 0;
    bool again = false;
    bool asks = false;  // for the result, if it is there: so does what is sent again
    bool done = false;  // its result is there: that is to be sent, and no contribution
  };
  // Returns a packet that is to be sent now; it counts as sent. What was lost comes first. Of those
  // whose results were there before, only the last (FIN) is sent: the switches need to know that
  // this rank has caught up.
  std::optional<Sending> next(Time now);

  // Tells whether a result of that packet is wanted; if not, why.
  Verdict wants(std::uint32_t vid) const;
  // Takes a sound result that is wanted. `cap` is the memory that switches have for packets of this
  // tree; `partial` means that somebody is missing in the result.
  void take(std::uint32_t vid, bool marked, std::uint32_t cap, bool partial, Time now);

  Time deadline() const {
    return waiting() ? timer_from_ + rtt_.timeout(expirations_) + lag_ : never;
  }
  void expire(Time now);

  bool finished() const { return base_ == packets_; }
  bool sent(std::uint32_t vid) const { return vid < next_; }
  std::uint32_t packets() const { return packets_; }
  std::uint32_t base() const { return base_; }   // the lowest that is not done
  std::uint32_t begun() const { return next_; }  // so many were sent, or needed not be
  const CongestionWindow& window() const { return window_; }
  std::uint64_t timeouts() const { return timeouts_; }
  std::uint64_t skipped() const { return skipped_; }  // done before they were sent

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
  };

  Entry& entry(std::uint32_t vid) { return entries_[vid & (entries_.size() - 1)]; }
  const Entry& entry(std::uint32_t vid) const { return entries_[vid & (entries_.size() - 1)]; }
  bool is_done(std::uint32_t vid) const { return vid < base_ || entry(vid).done; }
  bool waiting() const { return base_ < next_; }
  std::uint32_t span() const;
  void send(std::uint32_t vid, Time now);
  void repeat(std::uint32_t vid);
  void note_absence(const Entry& entry, bool partial);
  void learn(const Entry& entry, Time now);
  void look_for_losses(std::uint32_t vid);
  void advance();

  CongestionWindow window_;
  RttEstimator rtt_;
  std::uint32_t window_max_;
  std::uint64_t salt_;
  std::vector<Entry> entries_;  // by VID; a power of two
  std::uint32_t packets_ = 0;
  std::uint32_t base_ = 0;
  std::uint32_t next_ = 0;
  std::uint32_t seen_ = 0;            // behind the highest that has a result
  std::vector<std::uint32_t> holes_;  // below that, without
  std::deque<std::uint32_t> again_;   // to be sent again
  std::uint64_t order_ = 0;
  std::uint64_t newest_ = 0;  // latest order of a first sending whose result came
  Time timer_from_{};         // when the last progress was made
  unsigned expirations_ = 0;  // since then
  Duration lag_{};            // of the timer, once it has run out
  std::uint32_t burst_ = 1;   // how many are sent again when it runs out next
  bool owes_last_ = false;    // the last packet is to be sent, and all are done
  bool begun_ = false;        // a result came: the others are there
  bool left_out_ = false;     // the others may have their results of what is next
  std::uint64_t timeouts_ = 0;
  std::uint64_t skipped_ = 0;
};

}  // namespace tributary::host
