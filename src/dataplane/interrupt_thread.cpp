// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/interrupt_thread.h"

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include <rte_alarm.h>

namespace tributary::dataplane {
namespace {

struct Request {
  const std::function<void()>& action;
  std::mutex mutex{};
  std::condition_variable changed{};
  bool done = false;
};

// Notifies with the mutex held: the waiting thread may destroy the request as soon as it has it.
void on_alarm(void* argument) {
  auto& request = *static_cast<Request*>(argument);
  request.action();
  const std::lock_guard lock(request.mutex);
  request.done = true;
  request.changed.notify_one();
}

}  // namespace

void run_on_interrupt_thread(const std::function<void()>& action) {
  constexpr std::uint64_t at_once_us = 1;
  Request request{action};
  if (rte_eal_alarm_set(at_once_us, on_alarm, &request) != 0) {
    return action();
  }
  std::unique_lock lock(request.mutex);
  request.changed.wait(lock, [&request] { return request.done; });
}

}  // namespace tributary::dataplane
