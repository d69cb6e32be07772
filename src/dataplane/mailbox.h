// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

#include "dataplane/doorbell.h"
#include "packet/clock.h"

namespace tributary::dataplane {

// By a Mailbox the control thread gets something done on a packet core: the core runs an action
// between two bursts, where all of its objects are at rest. It runs one action at a time, and all
// of it or nothing.
class Mailbox {
 public:
  using Action = std::function<void(Time)>;

  // `bell` rings when something is left for the core; null where the core looks often enough.
  explicit Mailbox(Doorbell* bell = nullptr) : bell_(bell) {}

  // The control thread waits until the core has run `action`, behind what was posted. Returns false
  // if the core did not come round within `timeout`; then the action does not run any more.
  bool run(const Action& action, std::chrono::milliseconds timeout);
  // The control thread leaves `action` for the core, which runs it when it comes round, however
  // late that is, and before its next burst. It takes the place of one that was posted and has not
  // begun.
  void post(Action action);
  // The control thread learns whether what was posted has run, at the latest after `timeout`.
  bool settled(std::chrono::milliseconds timeout);

  // The core learns whether something is waiting, and runs it.
  bool waiting() const { return pending_.load(std::memory_order_relaxed) != nullptr; }
  void serve(Time now) {
    if (waiting()) {
      serve_pending(now);
    }
  }

 private:
  using Deadline = std::chrono::steady_clock::time_point;

  struct Command {
    const Action* action;
    std::atomic<bool> done;
  };
  // Says whether the command is done by `end`. If it is not, and `give_up`, it is taken back; one
  // that has begun cannot be, and is waited for.
  bool await(Command& command, Deadline end, bool give_up);
  void leave(Command& command);
  void serve_pending(Time now);

  Doorbell* bell_;
  std::atomic<Command*> pending_{nullptr};
  Action posted_action_;
  Command posted_{&posted_action_, true};
};

}  // namespace tributary::dataplane
