// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

#include "control/config.h"
#include "packet/clock.h"

namespace tributary::dataplane {

// When a packet core sleeps, and for how long. A pure state machine: the core tells it what the
// last round found, it answers how long to sleep before the next.
class IdleGovernor {
 public:
  static constexpr Duration sleep_first = std::chrono::microseconds(5);
  static constexpr Duration sleep_max = std::chrono::milliseconds(1);
  // A deadline that is nearer than this is met late by as much: several cores' worth of processes
  // share a lab machine, and a wake-up for every packet of a shaped port costs more than the
  // packet.
  static constexpr Duration sleep_min_to_deadline = std::chrono::microseconds(50);
  // Empty rounds in a row before the first sleep.
  static constexpr unsigned empty_rounds_before_sleep = 400;

  explicit IdleGovernor(control::IdlePolicy policy) : policy_(policy) {}

  // `worked`: the round moved a packet. `deadline`: the earliest thing that is due on this core.
  // Zero means: do not sleep.
  Duration after_round(bool worked, Time now, Time deadline);

 private:
  control::IdlePolicy policy_;
  unsigned empty_rounds_ = 0;
  Duration next_sleep_ = sleep_first;
};

}  // namespace tributary::dataplane
