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
#include "host/transport/progress_thread.h"
#include "host/transport/uring_transport.h"

namespace tributary::host {

// Moves a machine: on the caller's thread during a collective; on a progress thread's in between,
// while other ranks may still ask for something.
class Driver final : public Runner, private ProgressTarget {
 public:
  // The machine outlives the driver, and is used through it only.
  Driver(Machine& machine, UringTransport transport)
      : machine_(machine), transport_(std::move(transport)) {}

  Result<void> start() { return progress_.start(); }

  void skip(const Call& call) override;
  Result<void> run(const Call& call, Deadline until) override;
  bool retaining() override;
  const Job& job() const override { return machine_.job(); }

  // Calls `use`, which sends nothing, while nobody moves the machine.
  template <typename Use>
  auto with_machine(Use use) {
    const OwnerScope here(progress_, true);
    return std::invoke(use);
  }

  // Has the machine begin anew by `begin`: nothing that lies in it waits to be sent any more.
  template <typename Begin>
  Result<void> restart(Begin begin) {
    const OwnerScope here(progress_);
    return let_go().map([&] { begin(); });
  }

 private:
  class OwnerScope {
   public:
    explicit OwnerScope(ProgressThread& thread, bool only_looks = false)
        : thread_(thread), only_looks_(only_looks) {
      thread_.enter();
    }
    OwnerScope(const OwnerScope&) = delete;
    OwnerScope& operator=(const OwnerScope&) = delete;
    ~OwnerScope() { thread_.leave(only_looks_); }

   private:
    ProgressThread& thread_;
    const bool only_looks_;
  };

  Result<void> drive(Deadline& until);
  void give_up();
  Result<void> let_go();
  Result<void> answer();

  bool wants_progress() const override { return !lost_ && machine_.listening(); }
  void progress() override;
  Time next() const override { return machine_.deadline(); }
  std::array<int, 2> descriptors() const override { return transport_.descriptors(); }

  Machine& machine_;
  Outbox outbox_{256};
  UringTransport transport_;
  bool lost_ = false;               // the progress thread cannot use the socket
  ProgressThread progress_{*this};  // last: its thread uses the others
};

}  // namespace tributary::host
