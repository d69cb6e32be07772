// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "host/clock.h"
#include "host/limit.h"

namespace tributary::host {

// Until when a collective is waited for: to a fixed time, as long as it makes progress, or both.
// It makes progress when something of it comes that was not there before; who notices says so.
class Deadline {
 public:
  Deadline() = default;  // never
  // A time alone is fixed: progress does not move it. `stall`: the longest time without progress.
  Deadline(Time fixed, Duration stall = Duration::max()) : fixed_(fixed), stall_(stall) {}

  // The collective begins.
  void begin(Time now) { began_ = progressed_ = now; }
  void progress(Time now) {
    progressed_ = now;
    if (pulse_ != nullptr) {
      std::atomic_ref(*pulse_).fetch_add(1, std::memory_order_relaxed);
    }
  }
  // For those who wait, in whatever process, for who has this one: goes up with every progress.
  void show(std::uint64_t* pulse) { pulse_ = pulse; }
  // Passed as soon as that is true, or by that time. Another thread sets them, and wakes nobody:
  // who waits looks again after look_interval.
  static constexpr Duration look_interval = std::chrono::milliseconds(100);
  void obey(const std::atomic<bool>* given_up) { given_up_ = given_up; }
  bool is_given_up() const {
    return given_up_ != nullptr && given_up_->load(std::memory_order_relaxed);
  }
  // Of the request by which the collective was posted.
  void obey(const Limit* limit) { limit_ = limit; }

  // Of who waits for somebody with this one to give up.
  Deadline longer_by(Duration grace) const;
  // Of a part of what has this one.
  Deadline no_later_than(Time latest) const;
  // Of a part that begins now, and is given up after `stall` without progress, too.
  Deadline impatient(Duration stall) const;

  Time due() const { return is_given_up() ? Time{} : std::min({fixed_, stalls_at(), requested()}); }
  bool passed(Time now) const { return now >= due(); }
  // Until when to wait at most, before looking whether somebody has brought it forward.
  Time next_look() const { return std::min(due(), Clock::now() + look_interval); }
  // Which of them it was, once it has passed: how an error message about `what` begins.
  std::string explain(std::string_view what) const;

 private:
  Time requested() const { return limit_ == nullptr ? never : limit_->at(); }
  Time stalls_at() const { return stall_ == Duration::max() ? never : progressed_ + stall_; }

  Time fixed_ = never;
  Duration stall_ = Duration::max();
  std::uint64_t* pulse_ = nullptr;
  const std::atomic<bool>* given_up_ = nullptr;
  const Limit* limit_ = nullptr;
  Time began_{};
  Time progressed_{};
};

}  // namespace tributary::host
