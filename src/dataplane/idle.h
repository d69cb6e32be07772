// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

#include "control/config.h"
#include "packet/clock.h"

namespace tributary::dataplane {

// An IdleGovernor decides when a packet core sleeps, and for how long. It is a pure state machine:
// the core tells it what the last round found, and it answers how long to sleep before the next.
//
// A core that sleeps is late for the packet that comes next. So it first looks for packets in vain
// for as long as a sleep would make it late, which it learns: then it never loses much more than it
// would have if it had known. At load it does not sleep at all: what pauses then is a sender whose
// CPU was lent to somebody else, and what waits for it meanwhile comes at once. Time counts, not
// rounds, whose length depends on the ports.
class IdleGovernor {
 public:
  static constexpr Duration sleep_first = std::chrono::microseconds(5);
  static constexpr Duration sleep_max = std::chrono::milliseconds(1);
  // So long at most sleeps a core that whatever comes wakes.
  static constexpr Duration wait_max = std::chrono::milliseconds(100);
  // A deadline that is nearer than this is met late by as much: several cores' worth of processes
  // share a lab machine, and a wake-up for every packet of a shaped port costs more than the
  // packet.
  static constexpr Duration sleep_min_to_deadline = std::chrono::microseconds(50);
  // These bound the time without work before the first sleep. Senders pause between their bursts
  // for less than the lower one.
  static constexpr Duration spin_min = std::chrono::microseconds(100);
  static constexpr Duration spin_max = std::chrono::microseconds(500);

  // Where an empty round or a sleep took longer than it should by more than spin_max, somebody else
  // had the CPU, and will want it again. A core that looks for packets in vain then keeps the
  // senders of the next packets from the CPU, and is itself the later the more it took of it. So it
  // does not look for this long after that.
  static constexpr Duration contention_memory = std::chrono::milliseconds(100);

  // A core is at load if it had work for this share of the time that it remembers.
  static constexpr float load = 0.5f;
  static constexpr Duration memory = std::chrono::milliseconds(10);

  explicit IdleGovernor(control::IdlePolicy policy) : policy_(policy) {}

  // `worked` says that the round, which began at `now`, moved a packet. `deadline` is the earliest
  // thing that is due on this core; it is of no interest after work. No sleep is longer than
  // `longest`. Zero means: do not sleep.
  Duration after_round(bool worked, Time now, Time deadline, Duration longest = sleep_max);

 private:
  void learn_contention(Time now);
  void learn_lateness(Time now);
  void learn_load(bool worked, Time now);
  Duration spin(bool contended) const;

  control::IdlePolicy policy_;
  Time idle_since_ = never;
  Duration next_sleep_ = sleep_first;
  Time wake_due_ = never;           // of the sleep that was last
  Duration lateness_ = Duration{};  // by how much sleeps outlast what was asked for
  Time round_began_ = never;        // of the last round
  bool round_worked_ = false;       // of the last round
  float worked_share_ = 0;          // of the time, lately
  Time contended_until_ = Time::min();
};

}  // namespace tributary::dataplane
