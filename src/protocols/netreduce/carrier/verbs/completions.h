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

// What a device says of requests that are done, and how it wakes up who waits for that. The device
// outlives it.
class Completions {
 public:
  Completions() = default;
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;
  ~Completions() { acknowledge_wakeups(); }

  // Room for so many that nobody took.
  Result<void> open(const Device& device, std::size_t depth);
  ibv_cq& queue() const { return *queue_; }

  // Those there are, as far as they fit. Valid until the next call.
  Result<std::span<const ibv_wc>> take();
  // Until there may be completions, or until then.
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
