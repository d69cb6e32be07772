// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <span>

#include "host/clock.h"
#include "host/error.h"
#include "host/limit.h"

namespace tributary::host {

// Wakes who waits for any of several.
class Bell {
 public:
  void ring() {
    const std::lock_guard lock(mutex_);
    rung_ = true;
    changed_.notify_all();
  }
  // Waits until it has rung since the last time, or until then.
  void wait(Time until);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool rung_ = false;
};

// Tells how a collective that was posted has ended, if it has. Any thread may ask.
class Posting {
 public:
  using Told = std::function<void(const Result<void>& outcome)>;

  // The collective ends by then. Of several deadlines the earliest counts.
  void set_deadline(Time deadline);
  // Waits for the end of the collective; false if it has not ended by then. Ends it if its deadline
  // has passed before its turn.
  bool wait(Time until);
  // Precondition: it has ended.
  const Result<void>& outcome() const { return *outcome_; }
  // `told` is called when it ends, by whoever ends it, or at once if it has ended. It takes the
  // place of the one before; null: nobody is told.
  void on_end(Told told);

  // Its turn has come. From now on only end() ends it, and its deadline brings `limit` forward,
  // also if it has ended by then already.
  void begin(Limit& limit);
  // Ends it, unless it has ended before its turn.
  void end(Result<void> outcome);

  // That bell rings when it ends; null: none does.
  void attach(Bell* bell);
  // Returns when its deadline ends it before its turn; never if it has its turn.
  Time gives_up_at();

 private:
  using Lock = std::unique_lock<std::mutex>;

  bool is_late(Time now) const { return !limit_ && now >= deadline_; }
  void give_up(Lock& lock);
  void finish(Lock& lock, Result<void> outcome);

  std::mutex mutex_;
  std::condition_variable changed_;
  Time deadline_ = never;
  Limit* limit_ = nullptr;  // of what runs, while it has its turn
  std::optional<Result<void>> outcome_;
  Told told_;
  Bell* bell_ = nullptr;
};

// Returns the place of the first of them that has ended; nothing if none has by then. Null ones
// never do.
std::optional<std::size_t> wait_any(std::span<Posting* const> postings, Time until);

}  // namespace tributary::host
