// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <thread>

#include "host/clock.h"
#include "host/error.h"
#include "system/file_descriptor.h"

namespace tributary::host {

// A progress thread looks after this. Everything is called on the progress thread, with the owner
// away; wants_progress() by the owner, too, as it leaves.
class ProgressTarget {
 public:
  virtual ~ProgressTarget() = default;
  virtual bool wants_progress() const = 0;
  // Does what is due, without waiting.
  virtual void progress() = 0;
  // Returns when it is due next, unless one of descriptors() is readable before.
  virtual Time next() const = 0;
  virtual std::array<int, 2> descriptors() const = 0;  // always the same
};

// A thread that stands in for the owner of what it moves while the owner is away. An owner that
// comes and goes quickly pays for two uncontended locks and is not disturbed: the progress thread
// takes over only after a pause, and what arrives while the owner is there does not wake it.
class ProgressThread {
 public:
  // The target outlives the progress thread. The owner is there to begin with.
  explicit ProgressThread(ProgressTarget& target) : target_(target) {}
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;
  ~ProgressThread();

  Result<void> start();

  // Between enter() and leave() the target is the owner's alone. An owner that came for a look, and
  // has moved nothing, was not there: who looks often must not keep the thread away.
  void enter();
  void leave(bool only_looked = false);

 private:
  enum class State : std::uint8_t { awake, resting, pausing, watching };

  void run();
  void sleep(std::unique_lock<std::mutex>& lock, State state, Time until);
  void signal();

  ProgressTarget& target_;
  FileDescriptor bell_;  // eventfd
  std::thread thread_;
  std::mutex mutex_;  // guards what follows, and the target while the owner is away
  bool owner_present_ = true;
  bool ending_ = false;
  std::uint64_t absences_ = 0;
  State state_ = State::awake;
};

}  // namespace tributary::host
