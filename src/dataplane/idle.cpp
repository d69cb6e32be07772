// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/idle.h"

#include <algorithm>

namespace tributary::dataplane {

Duration IdleGovernor::after_round(bool worked, Time now, Time deadline) {
  if (policy_ == control::IdlePolicy::poll) {
    return Duration::zero();
  }
  if (worked) {
    empty_rounds_ = 0;
    next_sleep_ = sleep_first;
    return Duration::zero();
  }
  if (++empty_rounds_ < empty_rounds_before_sleep) {
    return Duration::zero();
  }
  const Duration sleep = next_sleep_;
  next_sleep_ = std::min(next_sleep_ * 2, sleep_max);
  if (deadline == never) {
    return sleep;
  }
  return std::min(sleep, std::max(deadline - now, sleep_min_to_deadline));
}

}  // namespace tributary::dataplane
