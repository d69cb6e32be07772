// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/mailbox.h"

#include <thread>

namespace tributary::dataplane {

bool Mailbox::run(const Action& action, std::chrono::milliseconds timeout) {
  // On this stack: the core never touches it after `done`.
  Command command{&action};
  const auto end = std::chrono::steady_clock::now() + timeout;
  pending_.store(&command, std::memory_order_release);
  bool given_up = false;
  while (!command.done.load(std::memory_order_acquire)) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (!given_up && std::chrono::steady_clock::now() >= end) {
      if (pending_.exchange(nullptr) == &command) {
        return false;
      }
      given_up = true;  // the core has begun with it: it ends soon
    }
  }
  return true;
}

void Mailbox::serve_pending(Time now) {
  Command* command = pending_.exchange(nullptr, std::memory_order_acquire);
  if (command != nullptr) {
    (*command->action)(now);
    command->done.store(true, std::memory_order_release);
  }
}

}  // namespace tributary::dataplane
