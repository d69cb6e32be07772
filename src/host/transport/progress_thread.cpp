// SPDX-License-Identifier: BSD-3-Clause
#include "host/transport/progress_thread.h"

#include <algorithm>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

#include "host/thread.h"
#include "host/transport/address.h"

namespace tributary::host {
namespace {

// An owner may be away for so long before its target is looked after. That is less than the
// shortest time after which a worker asks for a result again.
constexpr auto absence = std::chrono::milliseconds(2);

int milliseconds_until(Time until) {
  if (until == never) {
    return -1;
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
}

}  // namespace

ProgressThread::~ProgressThread() {
  if (!thread_.joinable()) {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  signal();
  thread_.join();
}

Result<void> ProgressThread::start() {
  bell_ = FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!bell_) {
    return fail(Error::Code::internal, errno_text("eventfd"));
  }
  auto started = start_thread([this] { run(); });
  if (!started) {
    return tl::make_unexpected(started.error());
  }
  thread_ = std::move(*started);
  return {};
}

void ProgressThread::enter() {
  bool call_off = false;
  {
    const std::lock_guard lock(mutex_);
    owner_present_ = true;
    call_off = state_ == State::watching;
  }
  if (call_off) {
    signal();  // or every arrival would wake it
  }
}

void ProgressThread::leave(bool only_looked) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    owner_present_ = false;
    absences_ += only_looked ? 0 : 1;
    wake = state_ == State::resting && target_.wants_progress();
  }
  if (wake) {
    signal();
  }
}

void ProgressThread::run() {
  std::unique_lock lock(mutex_);
  std::uint64_t seen = 0;
  Time long_gone{};
  while (!ending_) {
    if (absences_ != seen) {
      seen = absences_;
      long_gone = Clock::now() + absence;
    }
    if (owner_present_ || !target_.wants_progress()) {
      sleep(lock, State::resting, never);
    } else if (Clock::now() < long_gone) {  // the bell may end a pause early
      sleep(lock, State::pausing, long_gone);
    } else {
      target_.progress();
      sleep(lock, State::watching, target_.next());
    }
  }
}

void ProgressThread::sleep(std::unique_lock<std::mutex>& lock, State state, Time until) {
  const auto watched = target_.descriptors();
  state_ = state;
  lock.unlock();
  pollfd entries[] = {{bell_.get(), POLLIN, 0}, {watched[0], POLLIN, 0}, {watched[1], POLLIN, 0}};
  ::poll(entries, state == State::watching ? std::size(entries) : 1, milliseconds_until(until));
  std::uint64_t rings = 0;
  (void)!::read(bell_.get(), &rings, sizeof rings);
  lock.lock();
  state_ = State::awake;
}

void ProgressThread::signal() {
  const std::uint64_t once = 1;
  (void)!::write(bell_.get(), &once, sizeof once);  // cannot fail before 2^64 rings
}

}  // namespace tributary::host
