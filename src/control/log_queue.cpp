// SPDX-License-Identifier: BSD-3-Clause
#include "control/log_queue.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <utility>

#include "system/write_all.h"

namespace tributary::control {
namespace {

std::atomic<std::uint64_t> dropped{0};

// Signals are for the thread that looks after them.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

struct LogQueue::State {
  State(int file, std::size_t most, Notice line)
      : fd(file), capacity(most), notice(std::move(line)) {}

  const int fd;
  const std::size_t capacity;
  const Notice notice;
  std::mutex mutex;
  std::condition_variable changed;
  std::string waiting;
  std::uint64_t missing = 0;  // messages, behind `waiting`
  bool writing = false;
  bool ending = false;

  bool nothing_left() const { return waiting.empty() && missing == 0 && !writing; }

  // The thread runs this.
  void write_out() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return ending || !nothing_left(); });
      if (nothing_left()) {
        return;
      }
      auto text = std::exchange(waiting, {});
      if (const auto gap = std::exchange(missing, 0); gap > 0) {
        text += notice(gap);
      }
      writing = true;
      lock.unlock();
      const auto lost = write_all(fd, text);
      dropped += static_cast<std::uint64_t>(std::count(lost.begin(), lost.end(), '\n'));
      lock.lock();
      writing = false;
      changed.notify_all();
    }
  }
};

LogQueue::LogQueue(int fd, std::size_t capacity, Notice notice)
    : state_(std::make_shared<State>(fd, capacity, std::move(notice))) {
  const SignalsBlocked blocked;
  std::thread([state = state_] { state->write_out(); }).detach();
}

LogQueue::~LogQueue() {
  const std::lock_guard lock(state_->mutex);
  state_->ending = true;
  state_->changed.notify_all();
}

void LogQueue::push(std::string_view message) {
  const std::lock_guard lock(state_->mutex);
  // What comes behind a gap stays behind it.
  if (state_->missing > 0 || state_->waiting.size() + message.size() > state_->capacity) {
    ++state_->missing;
    ++dropped;
    return;
  }
  state_->waiting += message;
  state_->changed.notify_all();
}

bool LogQueue::written(std::chrono::milliseconds timeout) {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, timeout, [&] { return state_->nothing_left(); });
}

std::uint64_t LogQueue::dropped_total() {
  return dropped;
}

}  // namespace tributary::control
