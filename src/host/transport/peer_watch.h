// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "host/clock.h"
#include "host/error.h"
#include "system/file_descriptor.h"

namespace tributary::host {

// Watches TCP connections with other ranks, on a thread of its own, for whether those are still
// there. A process that has ended is missed at once, as its connections close; a machine that is
// gone, when it has answered nothing for a while. A rank that is only late is there.
class PeerWatch {
 public:
  // The connections outlive the watch. `silence_max`: a machine that answers nothing for so long is
  // gone, but not before it was asked four times, a second apart or more.
  static Result<std::unique_ptr<PeerWatch>> over(std::vector<int> connections,
                                                 Duration silence_max);
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;
  ~PeerWatch();

  // Is true from when a rank was missed, for ever.
  const std::atomic<bool>& is_one_gone() const { return is_one_gone_; }

 private:
  PeerWatch(std::vector<int> connections, Duration silence_max)
      : connections_(std::move(connections)), silence_max_(silence_max) {}

  void run();

  const std::vector<int> connections_;
  const Duration silence_max_;
  std::atomic<bool> is_one_gone_ = false;
  FileDescriptor bell_;  // eventfd; it rings at the end
  std::thread thread_;
};

}  // namespace tributary::host
