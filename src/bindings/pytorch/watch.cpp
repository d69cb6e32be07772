// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/pytorch/watch.h"

#include <ATen/ops/empty.h>
#include <chrono>
#include <cstdint>
#include <limits>
#include <utility>

namespace tributary::pytorch {
namespace {

// Nobody sends with it.
constexpr int unsent_tag = std::numeric_limits<int>::max();
// gloo gives up all connections when something was waited for in vain.
constexpr std::chrono::milliseconds for_ever = std::chrono::hours(24 * 3650);
constexpr auto grace_after_end = std::chrono::seconds(5);

}  // namespace

Watch::Watch(c10::intrusive_ptr<GroupBase> connections, std::function<void()> on_gone)
    : connections_(std::move(connections)),
      on_gone_(std::move(on_gone)),
      never_(at::empty({1}, at::kByte)) {
  Tensors tensors{never_};
  receive_ = connections_->recvAnysource(tensors, unsent_tag);
  thread_ = std::thread([this] { serve(); });
}

Watch::~Watch() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  receive_->abort();
  thread_.join();
}

std::string Watch::gone() const {
  const std::lock_guard lock(mutex_);
  return gone_;
}

void Watch::serve() {
  std::string reason;
  try {
    receive_->wait(for_ever);
    return;  // it is ending
  } catch (const std::exception& error) {
    reason = error.what();
  }
  std::unique_lock lock(mutex_);
  gone_ = reason;
  if (!changed_.wait_for(lock, grace_after_end, [this] { return ending_; })) {
    lock.unlock();
    on_gone_();
  }
}

}  // namespace tributary::pytorch
