// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>

#include "host/clock.h"
#include "host/error.h"
#include "host/limit.h"

namespace tributary::host {

// How a collective that was posted has ended, if it has. Any thread may ask.
class Posting {
 public:
  // It ends by then. Of several the earliest counts.
  void set_deadline(Time deadline);
  // False if it has not ended by then; `never`: it is waited for. Ends it if its deadline has
  // passed before its turn.
  bool wait(Time until);
  // Precondition: it has ended.
  const Result<void>& outcome() const { return *outcome_; }

  // Its turn has come. From now on only end() ends it, and its deadline is that of `limit` as well,
  // also if it has ended for that already.
  void begin(Limit& limit);
  // Unless it has ended before its turn.
  void end(Result<void> outcome);

 private:
  bool is_late(Time now) const { return !limit_ && now >= deadline_; }
  void finish(Result<void> outcome);

  std::mutex mutex_;
  std::condition_variable changed_;
  Time deadline_ = never;
  Limit* limit_ = nullptr;  // of what runs, while it has its turn
  std::optional<Result<void>> outcome_;
};

}  // namespace tributary::host
