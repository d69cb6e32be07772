// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>

#include "host/call.h"
#include "host/clock.h"
#include "host/deadline.h"
#include "host/error.h"
#include "host/machine.h"
#include "host/outbox.h"
#include "host/runner.h"
#include "host/transport/caretaker.h"
#include "host/transport/uring_transport.h"

namespace tributary::host {

// Moves a machine: on the caller's thread during a collective; on a caretaker's in between, while
// other ranks may still ask for something.
class Driver final : public Runner, private Ward {
 public:
  // The machine outlives the driver, and is used through it only.
  Driver(Machine& machine, UringTransport transport)
      : machine_(machine), transport_(std::move(transport)) {}

  Result<void> start() { return caretaker_.start(); }

  void skip(const Call& call) override;
  Result<void> run(const Call& call, Deadline until) override;
  bool retaining() override;
  const Job& job() const override { return machine_.job(); }

  // Calls `use` while nobody else moves the machine.
  template <typename Use>
  auto with_machine(Use use) {
    const Attendance here(caretaker_);
    return std::invoke(use);
  }

 private:
  class Attendance {
   public:
    explicit Attendance(Caretaker& caretaker) : caretaker_(caretaker) { caretaker_.enter(); }
    Attendance(const Attendance&) = delete;
    Attendance& operator=(const Attendance&) = delete;
    ~Attendance() { caretaker_.leave(); }

   private:
    Caretaker& caretaker_;
  };

  Result<void> drive(Deadline& until);
  Result<void> answer();

  bool needs_care() const override { return !lost_ && machine_.listening(); }
  void tend() override;
  Time next() const override { return machine_.deadline(); }
  std::array<int, 2> descriptors() const override { return transport_.descriptors(); }

  Machine& machine_;
  Outbox outbox_{256};
  UringTransport transport_;
  bool lost_ = false;           // the caretaker cannot use the socket
  Caretaker caretaker_{*this};  // last: its thread uses the others
};

}  // namespace tributary::host
