// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/pytorch/watch.h"

#include <ATen/ops/zeros.h>
#include <chrono>
#include <cstdint>
#include <limits>
#include <utility>

namespace tributary::pytorch {
namespace {

// Programs are hardly expected to send with this tag.
constexpr int news_tag = std::numeric_limits<int>::max();
// gloo gives up all connections when something was waited for in vain.
constexpr std::chrono::milliseconds for_ever = std::chrono::hours(24 * 3650);
constexpr auto grace_after_end = std::chrono::seconds(5);

}  // namespace

Watch::Watch(c10::intrusive_ptr<GroupBase> connections, std::function<void()> on_gone)
    : connections_(std::move(connections)),
      on_gone_(std::move(on_gone)),
      next_((connections_->getRank() + 1) % connections_->getSize()),
      before_((connections_->getRank() + connections_->getSize() - 1) % connections_->getSize()),
      news_{at::zeros({1}, at::kInt)} {
  receive_ = connections_->recv(news_, next_, news_tag);
  thread_ = std::thread([this] { serve(); });
}

Watch::~Watch() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    if (send_) {
      send_->abort();
    }
    changed_.notify_all();
  }
  receive_->abort();
  thread_.join();
}

std::string Watch::gone() const {
  const std::lock_guard lock(mutex_);
  return gone_;
}

std::optional<int> Watch::wait_for_news(std::string& reason) {
  try {
    const bool came = receive_->wait(for_ever);
    return came ? std::optional(news_.front().item<int>()) : std::nullopt;
  } catch (const std::exception& error) {
    reason = std::string(": ") + error.what();
    return next_;
  }
}

// This is in vain if that rank has gone, too.
void Watch::tell(int gone) {
  if (gone == before_) {
    return;
  }
  try {
    news_.front().fill_(gone);
    auto send = connections_->send(news_, before_, news_tag);
    {
      const std::lock_guard lock(mutex_);
      if (ending_) {
        return;
      }
      send_ = send;
    }
    send->wait(for_ever);
  } catch (const std::exception&) {
  }
}

void Watch::serve() {
  std::string reason;
  const auto rank = wait_for_news(reason);
  if (!rank) {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    gone_ = "rank " + std::to_string(*rank) + " has ended" + reason;
  }
  tell(*rank);
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, grace_after_end, [this] { return ending_; })) {
    lock.unlock();
    on_gone_();
  }
}

}  // namespace tributary::pytorch
