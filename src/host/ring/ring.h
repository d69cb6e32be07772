// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "host/call.h"
#include "host/clock.h"
#include "host/deadline.h"
#include "host/error.h"
#include "host/job.h"
#include "host/rendezvous/rendezvous.h"
#include "host/sparse_vector.h"
#include "host/transport/tcp.h"
#include "system/file_descriptor.h"
#include "wire/cursor.h"

namespace tributary::host {

// TCP connections to the two neighbours in the order of ranks, and the collectives over them. All
// ranks call the same ones in the same order. After an error the streams are out of step, and every
// further call fails. A handler is given as many elements at a time as a packet of the network has.
class Ring {
 public:
  // `listener` is where this rank told the others that it listens. An error of `wait` is returned
  // as it is.
  static Result<Ring> connect(const Meeting& meeting, Listener listener, Time until,
                              const Wait& wait = wait_alone);

  Result<void> allreduce(const Buffers& buffers, Deadline until);
  // As chains that end or begin at `root`; `out` of a reduce only matters there, `in` of a
  // broadcast likewise.
  Result<void> reduce(const Buffers& buffers, std::uint32_t root, Deadline until);
  Result<void> broadcast(const Buffers& buffers, std::uint32_t root, Deadline until);
  Result<void> barrier(Deadline until);
  Result<SparseElements> sparse_allreduce(const SparseBuffers& buffers, Deadline until);
  // This rank has refused a collective that the others may have begun: its next one is not taken
  // for that.
  void skip() { ++sequence_; }
  // Ends what this rank and its neighbours are in, and all that follows. Any thread may call it.
  void shut_down();

 private:
  Ring(const Job& job, FileDescriptor next, FileDescriptor previous)
      : rank_(job.rank),
        world_size_(job.world_size()),
        payload_bytes_(job.payload_bytes),
        next_(std::move(next)),
        previous_(std::move(previous)) {}

  struct Announcement;
  Result<void> announce(const Announcement& mine, const Deadline& until);
  Result<void> expect(const Announcement& mine, Deadline& until);
  Result<void> hear(wire::MutableBytes what, Deadline& until);
  Result<void> pass_token(std::uint64_t round, Deadline& until);
  Result<void> join(Announcement mine, Deadline& until);
  // Of a RingSchedule, a RingChain or a SparseSchedule.
  template <typename Stream>
  Result<void> send_some(Stream& stream, bool& moved);
  template <typename Stream>
  Result<void> receive_some(Stream& stream, bool& moved);
  void wake_at(std::size_t bytes);
  template <typename Stream>
  void await(Stream& stream, Time until);
  template <typename Stream>
  Result<void> pump(Stream& stream, Deadline& until);
  template <typename Stream>
  Result<void> run(std::string_view what, const Announcement& mine, Stream& stream, Deadline until);
  Result<void> guard(std::string_view what, const Deadline& until, Result<void> result);
  std::size_t grain_of(const Buffers& buffers) const;
  std::string broken_text() const;
  std::string next_name() const;
  std::string previous_name() const;

  std::uint32_t rank_;
  std::uint32_t world_size_;
  std::uint32_t payload_bytes_;
  FileDescriptor next_;      // sent to
  FileDescriptor previous_;  // received from
  std::uint32_t sequence_ = 0;
  std::size_t wake_bytes_ = 1;  // received bytes that end a wait
  std::string broken_;          // why, if a collective failed
};

}  // namespace tributary::host
