// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "packet/clock.h"

namespace tributary::canary {

// At most one running timer per slot, the one that expires first at hand: a binary heap that knows
// where each slot is in it. Timeouts differ from job to job, so that the order of arrival, which a
// FIFO keeps, is not that of expiry. A timer that starts last mostly expires last and stays where
// it is put; stopping one takes a dozen steps in a table of thousands. All memory is taken at
// construction.
class SlotTimers {
 public:
  static constexpr std::uint32_t none = 0xffffffff;

  explicit SlotTimers(std::uint32_t slots) : place_(slots, none) { heap_.reserve(slots); }

  // The slot whose timer expires first, and when; `none` and `never` if no timer is running.
  std::uint32_t first() const { return heap_.empty() ? none : heap_.front().slot; }
  Time first_expiry() const { return heap_.empty() ? never : heap_.front().expiry; }

  // The timer of `slot` is not running.
  void start(std::uint32_t slot, Time expiry);
  // The timer of `slot` is running.
  void stop(std::uint32_t slot);

 private:
  struct Timer {
    Time expiry{};
    std::uint32_t slot = none;
  };
  void put(std::uint32_t place, const Timer& timer);
  void rise(std::uint32_t place, Timer timer);
  void sink(std::uint32_t place, Timer timer);

  std::vector<Timer> heap_;           // never grows beyond its initial capacity
  std::vector<std::uint32_t> place_;  // of each slot in the heap
};

}  // namespace tributary::canary
