// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <memory>
#include <poll.h>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "packet/clock.h"

namespace tributary::dataplane {

// By a Doorbell other threads wake a packet core that waits for frames. It is an event count: the
// core says that it expects somebody, looks once more at what others may have left before they
// knew, and waits. Whoever rings later ends that wait.
class Doorbell {
 public:
  static tl::expected<std::unique_ptr<Doorbell>, std::string> create();
  ~Doorbell();
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;

  // Any thread rings after it has left something for the core. This costs a fence where the core
  // does not wait.
  void ring() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (expecting_.load(std::memory_order_relaxed)) {
      wake();
    }
  }

  // The core calls these. Room for one more element is needed in `inputs`, so that nothing is
  // allocated; they are as they were afterwards, but for what is in `revents`.
  void expect() {
    expecting_.store(true, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  // Waits for a ring, or until one of `inputs` can be read or has an error, at most for `longest`,
  // which is below one second. Returns whether it was one of `inputs`. Errors of sockets are taken
  // from them.
  bool wait(std::vector<pollfd>& inputs, Duration longest);

 private:
  explicit Doorbell(int descriptor) : descriptor_(descriptor) {}
  void wake();

  int descriptor_;  // an eventfd
  std::atomic<bool> expecting_{false};
};

}  // namespace tributary::dataplane
