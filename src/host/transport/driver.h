// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "host/call.h"
#include "host/canary/collectives.h"
#include "host/canary/statistics.h"
#include "host/clock.h"
#include "host/error.h"
#include "host/outbox.h"
#include "host/transport/caretaker.h"
#include "host/transport/uring_transport.h"

namespace tributary::host {

// Moves the Canary machine: on the caller's thread during a collective; on a caretaker's in
// between, while other ranks may still ask for results that this one led (3.3).
class Driver final : private Ward {
 public:
  Driver(Job job, const CanaryTuning& tuning, UringTransport transport)
      : machine_(std::move(job), tuning), transport_(std::move(transport)) {}

  Result<void> start() { return caretaker_.start(); }

  // A call that was refused here.
  void skip(const Call& call);
  // From now on a block that no switch took part in is a failure.
  void require_switches();
  // Returns when the collective is over; the buffers are not needed any more.
  Result<void> run(const Call& call, Time until);

  const Job& job() const { return machine_.job(); }
  CanaryStatistics statistics();
  // Blocks, so far, that hosts reduced without switches, as far as this rank had part in that.
  std::uint64_t blocks_by_hosts();
  bool retaining();

 private:
  Result<void> drive(Time until);
  Result<void> answer();

  bool needs_care() const override { return !lost_ && machine_.retaining(); }
  void tend() override;
  Time next() const override { return machine_.deadline(); }
  std::array<int, 2> descriptors() const override { return transport_.descriptors(); }

  CanaryCollectives machine_;
  Outbox outbox_{256};
  UringTransport transport_;
  bool lost_ = false;           // the caretaker cannot use the socket
  Caretaker caretaker_{*this};  // last: its thread uses the others
};

}  // namespace tributary::host
