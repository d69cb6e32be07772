// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "host/clock.h"
#include "host/error.h"

namespace tributary::host {

// How a collective that was posted has ended, if it has. Any thread may ask.
class Posting {
 public:
  // False if it has not ended by then; `never`: it is waited for.
  bool wait(Time until) {
    std::unique_lock lock(mutex_);
    const auto ended = [this] { return outcome_.has_value(); };
    if (until == never) {
      ended_.wait(lock, ended);
      return true;
    }
    return ended_.wait_until(lock, until, ended);
  }
  // Precondition: it has ended.
  const Result<void>& outcome() const { return *outcome_; }

  void end(Result<void> outcome) {
    const std::lock_guard lock(mutex_);
    outcome_ = std::move(outcome);
    ended_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  std::optional<Result<void>> outcome_;
};

}  // namespace tributary::host
