// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "host/communicator.h"
#include "host/communicator_options.h"
#include "host/error.h"

namespace tributary::host {

// Says whether ranks that share a machine add up in its memory, and go to the other machines
// together.
enum class Sharing : std::uint8_t { none, machine };

// Makes communicators of ranks that can tell each other something already, as those of MPI's and
// c10d's programs can: they need no address and no port to meet at.
class Bootstrap {
 public:
  // Gathers `bytes` bytes of each rank into `out`, by rank, on all of them; false if that failed.
  using Allgather = std::function<bool(const void* in, void* out, std::size_t bytes)>;

  // The options' rendezvous is not looked at: rank 0 is met at its local address, or the first one
  // that is not loopback. Without a secret the ranks get one. A rank that has an error instead of
  // options tells the others. Precondition: options.rank < options.world_size, if there are any.
  // Machines are shared if all ranks want that, sums are not to be reproducible, and a machine has
  // several of them. Another thread may give up, by `given_up`, a meeting of ranks that share none.
  static Result<Communicator> create(Result<CommunicatorOptions> options, std::uint32_t world_size,
                                     const Allgather& allgather, Sharing sharing = Sharing::none,
                                     const std::atomic<bool>* given_up = nullptr);
  // Takes part in the allgather of a create(), but gets no communicator. Precondition: by
  // `allgather` this rank hears of itself alone.
  static bool attend(const Allgather& allgather);
};

// Returns the options of a communicator of some of the ranks, which are numbered anew, without what
// was set up for the one job.
CommunicatorOptions options_of_part(const CommunicatorOptions& options);

}  // namespace tributary::host
