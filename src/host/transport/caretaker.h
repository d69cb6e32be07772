// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <thread>

#include "host/clock.h"
#include "host/error.h"
#include "host/transport/file_descriptor.h"

namespace tributary::host {

// What a caretaker looks after. Everything is called on the caretaker's thread, with the owner
// away; needs_care() by the owner, too, as it leaves.
class Ward {
 public:
  virtual ~Ward() = default;
  virtual bool needs_care() const = 0;
  // Does what is due, without waiting.
  virtual void tend() = 0;
  // When to tend next, unless one of descriptors() is readable before.
  virtual Time next() const = 0;
  virtual std::array<int, 2> descriptors() const = 0;  // always the same
};

// A thread that stands in for the owner of a ward while the owner is away. An owner that comes and
// goes quickly pays for two uncontended locks and is not disturbed: the caretaker takes over only
// after a pause, and what arrives while the owner is there does not wake it.
class Caretaker {
 public:
  // The ward outlives the caretaker. The owner is there to begin with.
  explicit Caretaker(Ward& ward) : ward_(ward) {}
  Caretaker(const Caretaker&) = delete;
  Caretaker& operator=(const Caretaker&) = delete;
  ~Caretaker();

  Result<void> start();

  // Between enter() and leave() the ward is the owner's alone.
  void enter();
  void leave();

 private:
  enum class Posture : std::uint8_t { awake, resting, pausing, watching };

  void run();
  void sleep(std::unique_lock<std::mutex>& lock, Posture posture, Time until);
  void signal();

  Ward& ward_;
  FileDescriptor bell_;  // eventfd
  std::thread thread_;
  std::mutex mutex_;  // guards what follows, and the ward while the owner is away
  bool owner_present_ = true;
  bool ending_ = false;
  std::uint64_t absences_ = 0;
  Posture posture_ = Posture::awake;
};

}  // namespace tributary::host
