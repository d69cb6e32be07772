// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/carrier/verbs/completions.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <poll.h>

#include "protocols/netreduce/carrier/verbs/refusal.h"

namespace tributary::host::verbs {

Result<void> Completions::open(const Device& device, std::size_t depth) {
  device_ = &device;
  channel_.reset(ibv_create_comp_channel(device.context.get()));
  if (!channel_ || ::fcntl(channel_->fd, F_SETFL, O_NONBLOCK) != 0) {
    return refused("a completion channel", device.name, errno);
  }
  queue_.reset(
      ibv_create_cq(device.context.get(), static_cast<int>(depth), nullptr, channel_.get(), 0));
  if (!queue_) {
    return refused("a completion queue", device.name, errno);
  }
  return arm();
}

Result<std::span<const ibv_wc>> Completions::take() {
  const int count = ibv_poll_cq(queue_.get(), static_cast<int>(taken_.size()), taken_.data());
  if (count < 0) {
    return refused("its completions", device_->name, EIO);  // the function does not tell which
  }
  return std::span<const ibv_wc>(taken_).first(static_cast<std::size_t>(count));
}

Result<void> Completions::sleep(Time until) {
  const auto left = std::max(until - Clock::now(), Clock::duration::zero());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  const timespec limit{
      seconds.count(),
      std::chrono::duration_cast<std::chrono::nanoseconds>(left - seconds).count()};
  pollfd readable{channel_->fd, POLLIN, 0};
  const int ready = ::ppoll(&readable, 1, &limit, nullptr);
  if (ready < 0 && errno != EINTR) {
    return refused("to be waited for", device_->name, errno);
  }
  if (ready <= 0) {
    return {};
  }
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  if (ibv_get_cq_event(channel_.get(), &queue, &context) != 0) {
    return errno == EAGAIN ? Result<void>() : refused("its wakeup", device_->name, errno);
  }
  if (++wakeups_ == 1024) {
    acknowledge_wakeups();
  }
  // What comes from here on wakes us up once more; the caller looks for what came before.
  return arm();
}

Result<void> Completions::arm() {
  if (const int code = ibv_req_notify_cq(queue_.get(), 0); code != 0) {
    return refused("to wake anybody up", device_->name, code);
  }
  return {};
}

// A completion queue cannot be destroyed before its wakeups are acknowledged. Acknowledging takes a
// lock, so it is done for many at once.
void Completions::acknowledge_wakeups() {
  if (wakeups_ != 0) {
    ibv_ack_cq_events(queue_.get(), wakeups_);
    wakeups_ = 0;
  }
}

}  // namespace tributary::host::verbs
