// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/idle.h"

#include <algorithm>

namespace tributary::dataplane {

Duration IdleGovernor::after_round(bool worked, Time now, Time deadline) {
  if (policy_ == control::IdlePolicy::poll) {
    return Duration::zero();
  }
  learn_lateness(now);
  if (worked) {
    idle_since_ = never;
    next_sleep_ = sleep_first;
    return Duration::zero();
  }
  idle_since_ = std::min(idle_since_, now);
  if (now - idle_since_ < spin()) {
    return Duration::zero();
  }
  auto sleep = next_sleep_;
  next_sleep_ = std::min(next_sleep_ * 2, sleep_max);
  if (deadline != never) {
    sleep = std::min(sleep, std::max(deadline - now, sleep_min_to_deadline));
  }
  wake_due_ = now + sleep;
  return sleep;
}

// Smoothed as a round-trip time is (RFC 6298), so that one night of a CPU that was lent to somebody
// else is soon forgotten.
void IdleGovernor::learn_lateness(Time now) {
  if (now >= wake_due_) {
    lateness_ += (std::min<Duration>(now - wake_due_, spin_max) - lateness_) / 8;
  }
  wake_due_ = never;
}

Duration IdleGovernor::spin() const {
  return std::clamp(lateness_, spin_min, spin_max);
}

}  // namespace tributary::dataplane
