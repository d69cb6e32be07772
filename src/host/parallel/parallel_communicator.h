// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "host/communicator.h"
#include "host/communicator_options.h"
#include "host/error.h"
#include "wire/element.h"

namespace tributary {

// Says how ranks that share machines divide the work (section 3.4 of the NetReduce paper).
enum class Hierarchy : std::uint8_t {
  parallel,  // parallel NetReduce: reduce-scatter in each machine, a ring per local rank between
             // the machines, all-gather in each machine
  tencent,   // reduce to one rank of each machine, those reduce between them, and broadcast
  // It is `parallel`, or `tencent` where what was set up for the protocol serves only one group of
  // machines, as PANAMA's trees do.
  automatic,
};

std::string_view name(Hierarchy hierarchy);
std::optional<Hierarchy> hierarchy_of(std::string_view name);

struct ParallelOptions {
  // Rank and world size count all ranks of all machines; the ranks of a machine follow each other,
  // as torchrun numbers them. The algorithm is the one between the machines. Each local rank's
  // group of machines meets at the rendezvous' port plus 1 plus the local rank. `reproducible` is
  // refused where machines have several ranks. If a job is given, the group's job is that number
  // plus the local rank; the numbers that a protocol's parameters give its groups are raised
  // likewise.
  CommunicatorOptions communicator;
  std::uint32_t local_rank = 0;
  std::uint32_t local_world_size = 1;
  Hierarchy hierarchy = Hierarchy::automatic;

  // Does the same as CommunicatorOptions::from_environment(), and also reads torchrun's LOCAL_RANK
  // and LOCAL_WORLD_SIZE, or what another launcher sets in their place.
  static Result<ParallelOptions> from_environment();
};

// An allreduce of ranks that share machines: what is between the ranks of a machine goes through
// shared memory, and only one vector per machine through the network. Only one thread calls at a
// time.
class ParallelCommunicator {
 public:
  static Result<ParallelCommunicator> create(const ParallelOptions& options);
  ParallelCommunicator(ParallelCommunicator&&) noexcept;
  ParallelCommunicator& operator=(ParallelCommunicator&&) noexcept;
  ~ParallelCommunicator();

  // Does the same as Communicator::allreduce, but refuses handlers. When it fails on one rank it
  // fails on all ranks of its machine.
  Result<void> allreduce(const void* in, void* out, std::size_t count, wire::ElementType type,
                         wire::Operator op);

  Hierarchy hierarchy() const;
  // Returns this rank's communicator between the machines; null on ranks that have no part in that.
  const Communicator* between_machines() const;

 private:
  struct State;
  explicit ParallelCommunicator(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tributary
