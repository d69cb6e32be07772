// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "host/clock.h"
#include "host/deadline.h"
#include "host/error.h"
#include "host/parallel/shared_memory.h"
#include "system/file_descriptor.h"

namespace tributary::host {

// The ranks of one job on one machine: memory that all of them see, and a barrier. They meet at an
// abstract Unix socket, so "machine" is a network namespace.
class MachineGroup {
 public:
  struct Place {
    std::string name;        // the same for all of them, another one for every other group
    std::uint32_t rank = 0;  // among those of the machine
    std::uint32_t size = 1;
  };

  // Each has a slab of `slab_bytes`, and there is one more for results.
  static Result<MachineGroup> join(const Place& place, std::size_t slab_bytes, Time until);

  std::uint32_t rank() const { return rank_; }
  std::uint32_t size() const { return size_; }
  std::size_t slab_bytes() const { return slab_bytes_; }
  std::byte* slab(std::uint32_t rank) { return memory_.data() + rank * slab_bytes_; }
  std::byte* results() { return slab(size_); }
  // Of this rank: while it goes up, the others wait at a barrier for this one, which is busy.
  std::uint64_t* pulse() { return pulse_of(rank_); }

  // What a rank says when it comes to a barrier.
  struct Word {
    std::uint64_t what = 0;  // it is about to do, or did: the same for all
    bool ok = true;          // it could
  };
  // Returns when all have come. What was written before is then seen by all. Where one could not do
  // its part, or does something else, it is an error for all: so all of them leave a collective
  // that failed at the same place. An error with every code but mismatch ends the group: nobody
  // knows then who is at which barrier.
  Result<void> barrier(const Word& word, Deadline until);

 private:
  MachineGroup(const Place& place, std::size_t slab_bytes, SharedMemory memory,
               std::vector<FileDescriptor> peers)
      : rank_(place.rank),
        size_(place.size),
        slab_bytes_(slab_bytes),
        memory_(std::move(memory)),
        peers_(std::move(peers)) {}

  Result<void> meet(const Word& word, Deadline& until);
  Result<bool> wait(int fd, short events, Deadline& until);
  std::uint64_t* pulse_of(std::uint32_t rank);
  std::uint64_t pulses();

  static Result<MachineGroup> lead(const Place& place, std::size_t slab_bytes, Time until);
  static Result<MachineGroup> follow(const Place& place, std::size_t slab_bytes, Time until);

  std::uint32_t rank_;
  std::uint32_t size_;
  std::size_t slab_bytes_;
  SharedMemory memory_;
  std::string broken_;                 // why the group has ended; empty while it has not
  std::vector<FileDescriptor> peers_;  // of rank 0: those of ranks 1, 2, ...; of others: rank 0's
};

}  // namespace tributary::host
