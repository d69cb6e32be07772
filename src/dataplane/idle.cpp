// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/idle.h"

#include <algorithm>

namespace tributary::dataplane {

Duration IdleGovernor::after_round(bool worked, Time now, Time deadline) {
  if (policy_ == control::IdlePolicy::poll) {
    return Duration::zero();
  }
  learn_lateness(now);
  learn_load(worked, now);
  if (worked) {
    idle_since_ = never;
    next_sleep_ = sleep_first;
    return Duration::zero();
  }
  idle_since_ = std::min(idle_since_, now);
  if (worked_share_ >= load || now - idle_since_ < spin()) {
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

// A round lasts until the next one begins, with the sleep behind it.
void IdleGovernor::learn_load(bool worked, Time now) {
  const auto lasted = std::clamp(now - round_began_, Duration::zero(), memory);
  const auto weight = static_cast<float>(lasted.count()) / static_cast<float>(memory.count());
  worked_share_ += ((round_worked_ ? 1.0f : 0.0f) - worked_share_) * weight;
  round_began_ = now;
  round_worked_ = worked;
}

Duration IdleGovernor::spin() const {
  return std::clamp(lateness_, spin_min, spin_max);
}

}  // namespace tributary::dataplane
