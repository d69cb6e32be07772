// SPDX-License-Identifier: BSD-3-Clause
// How a packet core rests: it sleeps, or waits for what wakes it.
#include <algorithm>
#include <ctime>

#include "dataplane/core.h"

namespace tributary::dataplane {
namespace {

// With others at work, a packet may be handed over at any time, so a core dozes no longer than
// this.
constexpr Duration doze_max = std::chrono::microseconds(50);

}  // namespace

// A descriptor that woke the core in vain, for whatever reason, would do so again at once.
Duration Core::longest_rest() const {
  return ports_.announce() && !woken_in_vain_ ? IdleGovernor::wait_max : IdleGovernor::sleep_max;
}

void Core::rest(Duration sleep) {
  const auto other_is_busy = [&](const CorePulse& pulse) {
    return &pulse != &(*setup_.pulses)[setup_.core] && pulse.busy.load(std::memory_order_relaxed);
  };
  if (std::any_of(setup_.pulses->begin(), setup_.pulses->end(), other_is_busy)) {
    sleep = std::min(sleep, doze_max);
  }
  ++status_.sleeps;
  if (sleep > IdleGovernor::sleep_max) {
    wait_for_work(sleep);
    return;
  }
  woken_in_vain_ = false;
  const timespec duration = {0, static_cast<long>(sleep.count())};  // below one second
  nanosleep(&duration, nullptr);                                    // a signal only ends it early
}

void Core::wait_for_work(Duration longest) {
  bell_.expect();
  if (mailbox_.waiting() || !handover_.nothing_comes() || stop_.load(std::memory_order_relaxed)) {
    return;
  }
  ports_.list_inputs(inputs_);
  woken_in_vain_ = bell_.wait(inputs_, longest);
}

}  // namespace tributary::dataplane
