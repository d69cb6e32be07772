// SPDX-License-Identifier: BSD-3-Clause
#include "host/stream/posting.h"

#include <algorithm>
#include <utility>

namespace tributary::host {
namespace {

// The clock's last moment is more than a condition variable can count to.
void sleep(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, Time until) {
  if (until == never) {
    changed.wait(lock);
  } else {
    changed.wait_until(lock, until);
  }
}

}  // namespace

void Posting::set_deadline(Time deadline) {
  const std::lock_guard lock(mutex_);
  deadline_ = std::min(deadline_, deadline);
  if (limit_ != nullptr) {
    limit_->bring_forward(deadline_);
  }
  changed_.notify_all();
}

bool Posting::wait(Time until) {
  std::unique_lock lock(mutex_);
  while (!outcome_) {
    const auto now = Clock::now();
    if (is_late(now)) {
      finish(fail(Error::Code::timeout,
                  "the deadline of this request passed before its turn: what was posted before it "
                  "has not ended, and says itself what is missing; or its group has not"));
      return true;
    }
    if (now >= until) {
      return false;
    }
    sleep(changed_, lock, limit_ != nullptr ? until : std::min(until, deadline_));
  }
  return true;
}

void Posting::begin(Limit& limit) {
  const std::lock_guard lock(mutex_);
  limit.bring_forward(deadline_);
  if (!outcome_) {
    limit_ = &limit;
  }
}

void Posting::end(Result<void> outcome) {
  const std::lock_guard lock(mutex_);
  if (!outcome_) {
    finish(std::move(outcome));
  }
}

void Posting::finish(Result<void> outcome) {
  outcome_ = std::move(outcome);
  limit_ = nullptr;
  changed_.notify_all();
}

}  // namespace tributary::host
