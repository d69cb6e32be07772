// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/idle.h"

#include <algorithm>

namespace tributary::dataplane {

Duration IdleGovernor::after_round(bool worked, Time now, Time deadline, Duration longest) {
  if (policy_ == control::IdlePolicy::poll) {
    return Duration::zero();
  }
  learn_contention(now);
  learn_lateness(now);
  learn_load(worked, now);
  if (worked) {
    idle_since_ = never;
    next_sleep_ = sleep_first;
    return Duration::zero();
  }
  idle_since_ = std::min(idle_since_, now);
  const bool contended = now < contended_until_;
  if (now - idle_since_ < spin(contended)) {
    return Duration::zero();
  }
  auto sleep = std::min(next_sleep_, longest);
  if (contended) {
    sleep = std::max(sleep, sleep_min_to_deadline);
  }
  next_sleep_ = std::min(sleep * 2, longest);
  if (deadline != never) {
    sleep = std::min(sleep, std::max(deadline - now, sleep_min_to_deadline));
  }
  wake_due_ = now + sleep;
  return sleep;
}

// This judges the last round, which ends now, or the sleep behind it.
void IdleGovernor::learn_contention(Time now) {
  const auto expected = wake_due_ != never ? wake_due_ : round_began_;
  if (expected != never && !round_worked_ && now - expected > spin_max) {
    contended_until_ = now + contention_memory;
  }
}

// Lateness is smoothed as a round-trip time is (RFC 6298), so that one long absence of a CPU that
// was lent to somebody else is soon forgotten.
void IdleGovernor::learn_lateness(Time now) {
  if (now >= wake_due_) {
    lateness_ += (std::min<Duration>(now - wake_due_, spin_max) - lateness_) / 8;
  }
  wake_due_ = never;
}

// A round lasts until the next one begins, with the sleep behind it. A round with work counts for
// no longer than work takes, whoever had the CPU then.
void IdleGovernor::learn_load(bool worked, Time now) {
  const auto longest = round_worked_ ? spin_max : memory;
  const auto lasted = std::clamp(now - round_began_, Duration::zero(), longest);
  const auto weight = static_cast<float>(lasted.count()) / static_cast<float>(memory.count());
  worked_share_ += ((round_worked_ ? 1.0f : 0.0f) - worked_share_) * weight;
  round_began_ = now;
  round_worked_ = worked;
}

Duration IdleGovernor::spin(bool contended) const {
  const bool at_load = worked_share_ >= load;
  if (contended) {
    return at_load ? spin_min : Duration::zero();
  }
  return at_load ? Duration::max() : std::clamp<Duration>(lateness_, spin_min, spin_max);
}

}  // namespace tributary::dataplane
