// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/call.h"
#include "host/clock.h"
#include "host/deadline.h"
#include "host/error.h"
#include "host/job.h"
#include "host/rendezvous/rendezvous.h"
#include "host/ring/announcement.h"
#include "host/ring/connections.h"
#include "host/ring/sizes.h"
#include "host/sparse_vector.h"
#include "host/transport/tcp.h"
#include "wire/cursor.h"

namespace tributary::host {

// TCP connections to the two neighbours in the order of ranks, and to those that recursive doubling
// takes, and the collectives over them. All ranks call the same ones in the same order. After an
// error the streams are out of step, and every further call fails. A handler is given as many
// elements at a time as a packet of the network has.
class Ring {
 public:
  // `listener` is where this rank told the others that it listens. An error of `wait` is returned
  // as it is.
  static Result<Ring> connect(const Meeting& meeting, Listener listener, Time until,
                              const Wait& wait = wait_alone);

  // Allreduces of up to so many bytes go by recursive doubling, as barriers do; longer ones go
  // round the ring. The limit is doubling_bytes_max at first. All ranks say the same.
  void double_up_to(std::size_t bytes) { doubling_bytes_ = bytes; }
  // Sets the payload of a packet, of which handlers combine one at a time; it is the job's at
  // first. All ranks say the same.
  void cut_by(std::uint32_t payload_bytes) { payload_bytes_ = payload_bytes; }
  Result<void> allreduce(const Buffers& buffers, Deadline until);
  // These go as chains that end or begin at `root`. Only there does `out` of a reduce, or `in` of a
  // broadcast, matter.
  Result<void> reduce(const Buffers& buffers, std::uint32_t root, Deadline until);
  Result<void> broadcast(const Buffers& buffers, std::uint32_t root, Deadline until);
  Result<void> barrier(Deadline until);
  // A barrier behind which this rank calls nothing more: a rank that is in anything else hears of
  // that.
  Result<void> final_barrier(Deadline until);
  Result<SparseElements> sparse_allreduce(const SparseBuffers& buffers, Deadline until);
  // Whoever waits in a call also calls `look`, every Deadline::look_interval. An error of it ends
  // the call, and is returned as it is.
  void look_beside(std::function<Result<void>()> look) { beside_ = std::move(look); }
  // This rank has refused a collective that the others may have begun: its next one is not taken
  // for that one.
  void skip() { ++sequence_; }
  // Returns the descriptors of all connections, which stay the same.
  std::vector<int> connections() const;
  // Ends what this rank and its neighbours are in, and all that follows. Any thread may call it.
  void shut_down();

 private:
  Ring(const Job& job, RingConnections connections)
      : rank_(job.rank),
        world_size_(job.world_size()),
        payload_bytes_(job.payload_bytes),
        next_(std::move(connections.next)),
        previous_(std::move(connections.previous)),
        partners_(std::move(connections.partners)) {}

  Wait wait_within(const Deadline& until, const RingPeer* here);
  Result<void> look_elsewhere(const RingPeer* here);
  Result<void> announce(const Deadline& until);
  Result<void> expect(Deadline& until);
  Result<void> hear(wire::MutableBytes what, Deadline& until);
  Result<void> begin(const RingAnnouncement& mine, Deadline& until);
  Result<void> join(Deadline& until);
  // Stream is a RingSchedule, a RingChain, a SparseSchedule or an Exchange.
  template <typename Stream>
  Result<void> pump(Stream& stream, RingPeer& to, RingPeer& from, Deadline& until);
  template <typename Stream>
  Result<void> run(std::string_view what, const RingAnnouncement& mine, Stream& stream,
                   Deadline until);
  Result<void> run_doubling(std::string_view what, const RingAnnouncement& mine,
                            const Buffers& buffers, Deadline until);
  Result<void> double_up(const Buffers& buffers, Deadline& until);
  Result<void> meet(RingAnnouncement::Kind kind, Deadline until);
  Result<void> guard(std::string_view what, const Deadline& until, Result<void> result);
  std::size_t grain_of(const Buffers& buffers) const;

  std::uint32_t rank_;
  std::uint32_t world_size_;
  std::uint32_t payload_bytes_;
  RingPeer next_;
  RingPeer previous_;
  std::vector<RingPeer> partners_;
  std::size_t doubling_bytes_ = doubling_bytes_max;
  std::uint32_t sequence_ = 0;
  std::function<Result<void>()> beside_ = [] { return Result<void>(); };
  std::optional<Error> found_beside_;
  RingAnnouncement current_;  // of the collective that this rank is in
  std::string broken_;        // why, if a collective failed
};

}  // namespace tributary::host
