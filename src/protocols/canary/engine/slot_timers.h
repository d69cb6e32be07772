// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "packet/clock.h"

namespace tributary::canary {

// Keeps at most one running timer per slot, with the one that expires first at hand: a binary heap
// that knows where each slot is in it. Timeouts differ from job to job, so that the order of
// arrival, which a FIFO keeps, is not that of expiry. A timer that starts last mostly expires last
// and stays where it is put; stopping one takes a dozen steps in a table of thousands. All memory
// is taken at construction.
class SlotTimers {
 public:
  static constexpr std::uint32_t none = 0xffffffff;

  explicit SlotTimers(std::uint32_t slots) : heap_(slots), place_(slots, none) {}

  // These tell the slot whose timer expires first, and when; `none` and `never` if no timer is
  // running.
  std::uint32_t first() const { return running_ == 0 ? none : heap_.front().slot; }
  Time first_expiry() const { return running_ == 0 ? never : heap_.front().expiry; }

  // Precondition: the timer of `slot` is not running.
  void start(std::uint32_t slot, Time expiry) { rise(running_++, {expiry, slot}); }
  // Precondition: the timer of `slot` is running.
  void stop(std::uint32_t slot);

 private:
  struct Timer {
    Time expiry{};
    std::uint32_t slot = none;
  };
  void put(std::uint32_t place, const Timer& timer) {
    heap_[place] = timer;
    place_[timer.slot] = place;
  }
  void rise(std::uint32_t place, Timer timer);
  void sink(std::uint32_t place, Timer timer);

  std::vector<Timer> heap_;           // the first `running_` of them
  std::vector<std::uint32_t> place_;  // of each slot in the heap
  std::uint32_t running_ = 0;
};

}  // namespace tributary::canary
