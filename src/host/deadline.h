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

// Tells until when a collective is waited for: until a fixed time, as long as it makes progress, or
// both. It makes progress when something new of it comes; whoever notices that calls progress().
class Deadline {
 public:
  Deadline() = default;  // it never passes
  // A time alone is fixed: progress does not move it. `stall`: the longest time without progress.
  Deadline(Time fixed, Duration stall = Duration::max()) : fixed_(fixed), stall_(stall) {}

  // The collective begins, or a step of it, which is no new one.
  void begin(Time now) {
    began_ = began_ == Time{} ? now : began_;
    progressed_ = now;
  }
  void progress(Time now) {
    progressed_ = now;
    if (pulse_ != nullptr) {
      std::atomic_ref(*pulse_).fetch_add(1, std::memory_order_relaxed);
    }
  }
  // Every progress adds one to *pulse. It is read by those who wait for the owner of this deadline,
  // in whatever process.
  void show(std::uint64_t* pulse) { pulse_ = pulse; }
  // The deadline has passed as soon as *given_up is true, or *limit has passed. Other threads
  // change these and wake nobody: whoever waits looks again after look_interval.
  static constexpr Duration look_interval = std::chrono::milliseconds(100);
  void obey(const std::atomic<bool>* given_up) { given_up_ = given_up; }
  bool is_given_up() const {
    return given_up_ != nullptr && given_up_->load(std::memory_order_relaxed);
  }
  // The limit is that of the request by which the collective was posted.
  void obey(const Limit* limit) { limit_ = limit; }

  // As soon as *gone is true, `stall` is the longest time without progress, if it is shorter.
  void hurry_when(const std::atomic<bool>* gone, Duration stall) {
    gone_ = gone;
    stall_when_gone_ = stall;
  }

  // Returns the deadline for waiting until somebody who has this one gives up.
  Deadline longer_by(Duration grace) const;
  // Returns the deadline of a part of something that has this one.
  Deadline no_later_than(Time latest) const;
  // Returns the deadline of a part that begins now and is also given up after `stall` without
  // progress.
  Deadline impatient(Duration stall) const;

  Time due() const { return is_given_up() ? Time{} : std::min({fixed_, stalls_at(), requested()}); }
  bool passed(Time now) const { return now >= due(); }
  // Tells whether it passes first for the sake of whoever gives it up, or of its request's limit.
  bool is_cut_short() const { return is_given_up() || requested() < std::min(fixed_, stalls_at()); }
  // Returns until when to wait at most before looking whether the deadline was brought forward.
  Time next_look() const { return std::min(due(), Clock::now() + look_interval); }
  // Returns how an error message about `what` begins, once the deadline has passed: it says which
  // of the limits that was.
  std::string explain(std::string_view what) const;

 private:
  Time requested() const {
    return limit_ == nullptr ? never : std::min(limit_->at(), never - grace_) + grace_;
  }
  Duration stall() const {
    const bool hurries = gone_ != nullptr && gone_->load(std::memory_order_relaxed);
    return hurries ? std::min(stall_, stall_when_gone_) : stall_;
  }
  Time stalls_at() const {
    const auto longest = stall();
    return longest == Duration::max() ? never : progressed_ + longest;
  }

  Time fixed_ = never;
  Duration stall_ = Duration::max();
  const std::atomic<bool>* gone_ = nullptr;
  Duration stall_when_gone_ = Duration::max();
  std::uint64_t* pulse_ = nullptr;
  const std::atomic<bool>* given_up_ = nullptr;
  const Limit* limit_ = nullptr;
  Duration grace_{};  // beyond the limit
  Time began_{};
  Time progressed_{};
};

}  // namespace tributary::host
