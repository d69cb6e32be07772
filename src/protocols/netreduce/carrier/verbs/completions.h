// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "host/clock.h"
#include "host/error.h"
#include "protocols/netreduce/carrier/verbs/device.h"
#include "protocols/netreduce/carrier/verbs/resources.h"

namespace tributary::host::verbs {

// Takes what a device says of requests that are done, and lets the caller sleep until it says
// something. The device outlives it.
class Completions {
 public:
  Completions() = default;
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;
  ~Completions() { acknowledge_wakeups(); }

  // Makes room for `depth` completions that nobody took yet.
  Result<void> open(const Device& device, std::size_t depth);
  ibv_cq& queue() const { return *queue_; }

  // Returns the completions that are there, as many as fit. They are valid until the next call.
  Result<std::span<const ibv_wc>> take();
  // Sleeps until there may be completions, but no longer than `until`.
  Result<void> sleep(Time until);

 private:
  Result<void> arm();
  void acknowledge_wakeups();

  const Device* device_ = nullptr;
  Channel channel_;
  CompletionQueue queue_;
  std::array<ibv_wc, 32> taken_;
  unsigned wakeups_ = 0;  // taken from the channel, and not acknowledged
};

}  // namespace tributary::host::verbs
