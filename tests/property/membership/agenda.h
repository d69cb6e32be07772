// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "host/clock.h"

namespace tributary::test {

// Actions that are planned in virtual time. Actions of the same time run in the order in which they
// were planned.
class Agenda {
 public:
  using Action = std::function<void()>;

  host::Time now() const { return now_; }
  // An action that is planned for the past happens now.
  void at(host::Time when, Action action) {
    planned_.push({std::max(when, now_), next_++, std::move(action)});
  }
  void in(host::Duration delay, Action action) { at(now_ + delay, std::move(action)); }
  // Returns false if nothing is planned up to then.
  bool step(host::Time until) {
    if (planned_.empty() || planned_.top().when > until) {
      now_ = std::max(now_, until);
      return false;
    }
    now_ = planned_.top().when;
    const auto action = planned_.top().action;
    planned_.pop();
    action();
    return true;
  }

 private:
  struct Planned {
    host::Time when;
    std::uint64_t order = 0;
    Action action;

    bool operator<(const Planned& other) const {
      return std::pair(when, order) > std::pair(other.when, other.order);
    }
  };

  host::Time now_{std::chrono::seconds(1000)};
  std::uint64_t next_ = 0;
  std::priority_queue<Planned> planned_;
};

}  // namespace tributary::test
