// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

#include "packet/clock.h"

namespace tributary::dataplane {

// How the control thread gets something done on a packet core: the core runs the action between two
// bursts, where all of its objects are at rest. One action at a time.
class Mailbox {
 public:
  using Action = std::function<void(Time)>;

  // Control thread: waits until the core has run `action`. False if the core did not come round
  // within `timeout`; then the action does not run any more.
  bool run(const Action& action, std::chrono::milliseconds timeout);

  // The core: runs what is waiting.
  void serve(Time now) {
    if (pending_.load(std::memory_order_relaxed) != nullptr) {
      serve_pending(now);
    }
  }

 private:
  struct Command {
    const Action* action;
    std::atomic<bool> done{false};
  };
  void serve_pending(Time now);

  std::atomic<Command*> pending_{nullptr};
};

}  // namespace tributary::dataplane
