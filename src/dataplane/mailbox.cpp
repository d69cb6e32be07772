// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/mailbox.h"

#include <thread>
#include <utility>

namespace tributary::dataplane {
namespace {

constexpr std::chrono::microseconds between_looks{50};

}  // namespace

bool Mailbox::run(const Action& action, std::chrono::milliseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  if (!await(posted_, end, false)) {
    return false;
  }
  // The command may be on this stack, as the core never touches it after `done`.
  Command command{&action, false};
  leave(command);
  return await(command, end, true);
}

void Mailbox::post(Action action) {
  await(posted_, Deadline::min(), true);
  posted_action_ = std::move(action);
  posted_.done.store(false, std::memory_order_relaxed);
  leave(posted_);
}

void Mailbox::leave(Command& command) {
  pending_.store(&command, std::memory_order_release);
  if (bell_ != nullptr) {
    bell_->ring();
  }
}

bool Mailbox::settled(std::chrono::milliseconds timeout) {
  return await(posted_, std::chrono::steady_clock::now() + timeout, false);
}

bool Mailbox::await(Command& command, Deadline end, bool give_up) {
  while (!command.done.load(std::memory_order_acquire)) {
    if (std::chrono::steady_clock::now() >= end) {
      if (!give_up) {
        return false;
      }
      if (pending_.exchange(nullptr) == &command) {
        return false;
      }
      end = Deadline::max();  // the core has begun with it, so it ends soon
    }
    std::this_thread::sleep_for(between_looks);
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
