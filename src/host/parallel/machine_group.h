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
    std::vector<std::uint32_t> known_as{};  // what people call the ranks; empty: local ranks
  };

  // Each rank has a slab of `slab_bytes`, and there is one more for results.
  static Result<MachineGroup> join(const Place& place, std::size_t slab_bytes, Time until);

  std::uint32_t rank() const { return place_.rank; }
  std::uint32_t size() const { return place_.size; }
  std::size_t slab_bytes() const { return slab_bytes_; }
  std::byte* slab(std::uint32_t rank) { return memory_.data() + rank * slab_bytes_; }
  std::byte* results() { return slab(size()); }
  // The pulse is this rank's: while it goes up, the others wait at a barrier for this rank, which
  // is busy.
  std::uint64_t* pulse() { return pulse_of(rank()); }

  // A rank says this when it comes to a barrier.
  struct Word {
    std::uint64_t what = 0;         // what it is about to do, or did: the same for all
    const Error* failed = nullptr;  // why it could not, if so
  };
  // Returns when all have come. What was written before is then seen by all. Where one could not do
  // its part, its error is one for all others; where one does something else, it is an error for
  // all: so all of them leave a collective that failed at the same place. Where one does not come,
  // or gives up waiting, the group ends, for all at once and with every later barrier: nobody knows
  // then who is at which.
  Result<void> barrier(const Word& word, Deadline until);
  // Ends the group for all of its ranks, at once. Any thread may call it.
  void shut_down() const;
  // Says whether a barrier has found that the group has ended.
  bool has_ended() const { return !broken_.empty(); }

 private:
  struct Message;

  MachineGroup(Place place, std::size_t slab_bytes, SharedMemory memory,
               std::vector<FileDescriptor> peers)
      : place_(std::move(place)),
        slab_bytes_(slab_bytes),
        memory_(std::move(memory)),
        peers_(std::move(peers)) {}

  Message message_of(const Word& word) const;
  // Returns what all have said, in one message; an error if that cannot be known.
  Result<Message> meet(const Message& mine, Deadline& until);
  Result<Message> hear(Message all, Deadline& until);
  Result<void> tell(const Message& all, const Deadline& until);
  Result<void> end(Error why);
  Error about(std::uint32_t rank, const Error& error) const;
  std::string name_of(std::uint32_t rank) const;
  std::uint32_t peer_rank(std::size_t peer) const {
    return place_.rank == 0 ? static_cast<std::uint32_t>(peer + 1) : 0;
  }
  Result<bool> wait(int fd, short events, Deadline& until);
  std::uint64_t* pulse_of(std::uint32_t rank);
  std::uint64_t pulses();

  static Result<MachineGroup> lead(const Place& place, std::size_t slab_bytes, Time until);
  static Result<MachineGroup> follow(const Place& place, std::size_t slab_bytes, Time until);

  Place place_;
  std::size_t slab_bytes_;
  SharedMemory memory_;
  std::string broken_;                 // why the group has ended; empty while it has not
  std::vector<FileDescriptor> peers_;  // of rank 0: those of ranks 1, 2, ...; of others: rank 0's
};

}  // namespace tributary::host
