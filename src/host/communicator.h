// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "host/communicator_options.h"
#include "host/error.h"
#include "host/error_feedback.h"
#include "host/gradient_sketch.h"
#include "host/partial_result.h"
#include "host/sparse_vector.h"
#include "host/statistics.h"
#include "reduce/element_types.h"
#include "wire/element.h"

namespace tributary::host {
class Bootstrap;
struct Call;
class CubeNetworks;
class Deadline;
class Limit;
struct Listener;
class MachineCollectives;
class Member;
struct MembershipPlace;
class Seating;
class Stream;
class Timeline;
}  // namespace tributary::host

namespace tributary {

using reduce::element_type_for;

// The size of a full packet that is neither the first nor the last of what it belongs to, in bytes.
struct FullPacket {
  std::uint32_t elements = 0;
  std::uint32_t total = 0;  // the whole packet from its IP header on, or behind its Ethernet header
};

// Says how things stand in an elastic world, whose ranks change from one membership to the next.
struct MembershipState {
  std::uint64_t epoch = 0;      // counts memberships, from 1; 0: the world is fixed
  std::uint32_t newcomers = 0;  // ranks of this membership that were in none before; never rank 0
  std::uint32_t waiting = 0;    // processes that wait to join, as far as this rank has heard
  bool ended = false;           // somebody is gone, or regroups: no more is carried out here
};

// A group of ranks that reduce vectors together. All ranks call the same collectives in the same
// order with the same count, type, operator and root. Calls block, and only one thread calls at a
// time. A call ends with the exact outcome, which has every contribution in it once, or with an
// error: when it makes no progress, and by the deadline if there is one. After an error the
// contents of `out` are undefined.
//
// Between calls a thread of the library answers ranks that lost what this one sent last; it sleeps
// while there is nothing to answer. The destructor waits for the other ranks' destructors, up to
// two seconds, so that nobody is left without an answer.
class Communicator {
 public:
  // `ready` is the outcome of what the caller had to do besides. If that failed on a rank, it tells
  // the others, and no rank gets a communicator; in an elastic world the others wait for the rank.
  static Result<Communicator> create(const CommunicatorOptions& options,
                                     const Result<void>& ready = {});
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;
  ~Communicator();

  // Returns the name of the algorithm that was chosen at creation for the collectives below: one of
  // a protocol, or "ring" (the hosts alone, over TCP). The ring also carries what the protocol does
  // not have, and with "auto" those collectives for whose size hosts are faster.
  const std::string& algorithm() const;

  // `in` and `out` are the same or do not overlap; nothing need be aligned. Floats of 16 and 8 bits
  // are added in f32 and rounded where a partial sum is sent on; sums that are reproducible are
  // rounded once. Pairs (reduce::indexed) take the operators minloc and maxloc, which no other type
  // has, and handlers. A handler (wire::handler_operator(number), see host/handlers.h) takes the
  // type that it was loaded for; a struct of one's own is an opaque4, opaque8 or opaque16. The
  // handler combines payload_bytes_max() bytes of the vectors at a time, in any order of the ranks.
  Result<void> allreduce(const void* in, void* out, std::size_t count, wire::ElementType type,
                         wire::Operator op);
  // The result is in `out` of rank `root`; `out` of other ranks is left alone and may be null.
  Result<void> reduce(const void* in, void* out, std::size_t count, wire::ElementType type,
                      wire::Operator op, std::uint32_t root);
  // Copies `inout` of rank `root` to `inout` of all other ranks.
  Result<void> broadcast(void* inout, std::size_t count, wire::ElementType type,
                         std::uint32_t root);
  // Returns when all ranks have called it.
  Result<void> barrier();
  // Gives all ranks the `count` elements of each rank, in the order of the ranks: `out` has room
  // for `count` elements of every rank. `in` may be this rank's own place in `out`.
  Result<void> allgather(const void* in, void* out, std::size_t count, wire::ElementType type);
  // `in` has `count` elements for each rank. Reduces them over all ranks, and gives this rank its
  // own `count` elements of the result.
  Result<void> reduce_scatter(const void* in, void* out, std::size_t count, wire::ElementType type,
                              wire::Operator op);

  // Ends the running collective within a second, with Error::Code::aborted, and all later ones.
  // Neighbours that are in a collective of the ring notice at once, other ranks by their time
  // limits. Any thread may call it.
  void abort();

  // These go by the ring, whatever algorithm() is. Where sums are reproducible, the ring's have the
  // same bits.
  Result<void> ring_allreduce(const void* in, void* out, std::size_t count, wire::ElementType type,
                              wire::Operator op);
  Result<void> ring_reduce(const void* in, void* out, std::size_t count, wire::ElementType type,
                           wire::Operator op, std::uint32_t root);
  Result<void> ring_broadcast(void* inout, std::size_t count, wire::ElementType type,
                              std::uint32_t root);
  Result<void> ring_barrier();

  template <typename T>
  Result<void> allreduce(std::span<T> inout, wire::Operator op = wire::Operator::sum) {
    return allreduce(inout.data(), inout.data(), inout.size(), element_type_for<T>(), op);
  }
  // Precondition: in and out have the same size.
  template <typename T>
  Result<void> allreduce(std::span<const T> in, std::span<T> out,
                         wire::Operator op = wire::Operator::sum) {
    return allreduce(in.data(), out.data(), in.size(), element_type_for<T>(), op);
  }
  template <typename T>
  Result<void> ring_allreduce(std::span<T> inout, wire::Operator op = wire::Operator::sum) {
    return ring_allreduce(inout.data(), inout.data(), inout.size(), element_type_for<T>(), op);
  }
  template <typename T>
  Result<void> ring_allreduce(std::span<const T> in, std::span<T> out,
                              wire::Operator op = wire::Operator::sum) {
    return ring_allreduce(in.data(), out.data(), in.size(), element_type_for<T>(), op);
  }

  // Precondition: `out` has the size of `in` at the root.
  template <typename T>
  Result<void> reduce(std::span<const T> in, std::span<T> out, std::uint32_t root,
                      wire::Operator op = wire::Operator::sum) {
    return reduce(in.data(), out.data(), in.size(), element_type_for<T>(), op, root);
  }
  template <typename T>
  Result<void> broadcast(std::span<T> inout, std::uint32_t root) {
    return broadcast(inout.data(), inout.size(), element_type_for<T>(), root);
  }

  // Returns the sum of the ranks' vectors of `count` elements. Each rank gives the elements that
  // are not zero: strictly increasing indices, and as many values. Switches add them up where the
  // protocol of algorithm() can and its parameters ask for it; otherwise the ring of the hosts
  // does. The sum has the same form on all ranks, and the same bits.
  Result<SparseElements> sparse_allreduce(std::span<const std::uint32_t> indices,
                                          const void* values, std::size_t count,
                                          wire::ElementType type, wire::Operator op);
  template <typename T>
  Result<SparseVector<T>> sparse_allreduce(std::span<const std::uint32_t> indices,
                                           std::span<const T> values, std::size_t count,
                                           wire::Operator op = wire::Operator::sum) {
    if (indices.size() != values.size()) {
      return refuse_sparse(count, "indices and values differ in number: each value has an index");
    }
    return sparse_allreduce(indices, values.data(), count, element_type_for<T>(), op)
        .map([](const SparseElements& sum) { return sum.template as<T>(); });
  }
  // `in` may be dense, as a sum may come back.
  template <typename T>
  Result<SparseVector<T>> sparse_allreduce(const SparseVector<T>& in,
                                           wire::Operator op = wire::Operator::sum) {
    if (in.is_dense() && in.count <= sparse_count_max) {
      std::vector<std::uint32_t> all(in.count);
      std::iota(all.begin(), all.end(), std::uint32_t{0});
      return sparse_allreduce(std::span<const std::uint32_t>(all), std::span(in.values), in.count,
                              op);
    }
    return sparse_allreduce(std::span(in.indices), std::span(in.values), in.count, op);
  }
  // Sends what `selection` takes of a dense vector and of what `feedback` kept back. The rest is
  // kept back there, and all of it if the call fails.
  template <typename T>
  Result<SparseVector<T>> sparse_allreduce(std::span<const std::type_identity_t<T>> in,
                                           const Selection& selection, ErrorFeedback<T>& feedback) {
    if (in.size() != feedback.residual().size()) {
      return refuse_sparse(feedback.residual().size(),
                           "the vector has another length than its ErrorFeedback");
    }
    const auto sent = feedback.take(in, selection);
    auto sum = sparse_allreduce(sent);
    if (!sum) {
      feedback.give_back(sent);
    }
    return sum;
  }

  // Adds up the ranks' vectors, each rounded to a few bits for an element (see GradientSketch). All
  // ranks get the same bits. What `sketch` keeps back goes along with the vector; if the call
  // fails, all of it is kept back. `in` and `out` are as long as the sketch, and are the same or do
  // not overlap. All ranks have sketches of the same kind and bits, and of the same matrix.
  Result<void> sketched_allreduce(std::span<const float> in, std::span<float> out,
                                  GradientSketch& sketch);
  Result<void> sketched_allreduce(std::span<float> inout, GradientSketch& sketch) {
    return sketched_allreduce(inout, inout, sketch);
  }

  // Tells whether results may lack ranks: with PANAMA and a share below 1.
  bool may_lack_ranks() const;
  // Tells which elements of the last collective's result lack whom, in the order of the elements;
  // all others have every rank in them. Only allreduce, reduce and reduce_scatter may lack ranks,
  // and only with PANAMA and a share below 1 (TRIBUTARY_SHARE). Fails where nobody can tell: if
  // ranks share machines.
  Result<std::vector<PartialResult>> partial_results() const;

  // Goes on to the next membership of an elastic world (CommunicatorOptions::membership). All
  // members call it, after the same collective or after one that failed, and get the communicator
  // of the next membership, with its ranks and its size. This one ends: whatever is called then
  // fails with Error::Code::membership_ended. Members that are gone are left out, as are those that
  // do not call it within the stall timeout or deadline, whichever is shorter, after the first
  // call; processes that wait to join are taken in. A member keeps its rank unless ranks below it
  // would stay free; there always is a rank 0. With `world_size`, the call waits for others until
  // there are so many ranks, for as long as that limit. After an error it may be called again,
  // unless the error is membership_ended, as this process is a member no more, or aborted, by
  // abort().
  Result<Communicator> regroup(std::uint32_t world_size = 0);
  MembershipState membership() const;

  std::uint32_t rank() const;
  std::uint32_t world_size() const;
  // Returns the job's number as the options gave it or rank 0 drew it; 0 for a single rank.
  std::uint32_t job() const;
  // Returns this rank's address as the others know it; empty for a single rank.
  std::string local_address() const;
  // Tells whether sums are reproducible, as the options said.
  bool reproducible() const;
  // Returns the payload bytes of a full packet, as the ranks agreed on them; 0 for a single rank.
  std::uint32_t payload_bytes_max() const;
  std::uint32_t window() const;
  FullPacket full_packet() const;  // zeros for a single rank
  // Counts the collectives that succeeded by each algorithm, but for those whose call names the
  // ring. What the protocol counted includes the packets by which creation found out about the
  // network.
  CommunicatorStatistics statistics() const;

 private:
  friend class host::Bootstrap;
  // The ranks meet at `listener` on rank 0, if it is not null: it listens already. Creation ends
  // early once another thread sets `given_up`.
  static Result<Communicator> create(const CommunicatorOptions& options, host::Listener* listener,
                                     const Result<void>& ready,
                                     const std::atomic<bool>* given_up = nullptr);
  // Ranks that share a machine add up in its memory, and go to the other machines together. No
  // other communicator has the same `name`. Handlers and sparse vectors are refused.
  static Result<Communicator> create_sharing(const CommunicatorOptions& options,
                                             const host::Seating& seating, const std::string& name,
                                             host::Listener* listener);

  friend class host::CubeNetworks;
  // These are in communicator_membership.cpp.
  static Result<Communicator> create_elastic(const CommunicatorOptions& options);
  static Result<Communicator> form(const std::shared_ptr<host::Member>& member,
                                   const CommunicatorOptions& options, std::uint64_t after,
                                   std::chrono::nanoseconds patience);
  static Result<Communicator> meet(host::Member& member, const CommunicatorOptions& options,
                                   const host::MembershipPlace& place,
                                   const std::atomic<bool>& given_up);

  friend class ParallelCommunicator;
  // From now on every progress of a collective adds one to *pulse, which outlives this object.
  void show_progress(std::uint64_t* pulse);
  // Counts on this rank as a call of sparse_allreduce that it refuses, and returns the error.
  tl::unexpected<Error> refuse_sparse(std::size_t count, std::string why);

  friend class host::MachineCollectives;
  // Does the same as run(), but within the caller's limits instead of the options'.
  Result<void> run_within(const host::Call& call, const host::Deadline& until);
  // Has `run` carry out the call in pieces, which are recorded and counted as the one call that
  // they are.
  Result<void> run_in_pieces(const host::Call& call, const std::function<Result<void>()>& run);
  // Keeps this rank in step with the others, as if it had refused the call.
  void leave_out(const host::Call& call);
  // The same of a gather, of so many elements of all ranks together. All choose its way alike, also
  // one that refuses it and does not know its bytes.
  void leave_out_gather(const host::Call& call);
  Result<void> run_gather(const host::Call& call, std::size_t elements);

  friend class CollectiveQueue;
  friend class GradientExchange;
  friend class host::Stream;
  // Fails if the call's arguments make no sense. It sends nothing; any thread may call it at any
  // time.
  Result<void> check(const host::Call& call) const;
  Result<void> run(const host::Call& call);
  // Does the same as run(), but every rank is in the result even where other calls leave some out.
  Result<void> run_with_all(const host::Call& call);
  // Fails if run_with_all() would refuse the call, as all ranks do if it is too large.
  Result<void> check_with_all(const host::Call& call) const;
  // Does the same as run_with_all(), but the call appears in no statistics.
  Result<void> run_aside(const host::Call& call);
  void notify(const std::string& line) const;
  // Opens one more row of this rank's timeline; null where none is written.
  Result<std::unique_ptr<host::Timeline>> timeline_row(const std::string& name) const;
  // The limit by which the collective that runs, or the next one, has to end besides the limits of
  // the options. One that has not begun by then fails without touching its buffers; it keeps its
  // place among the collectives all the same.
  host::Limit& limit();
  bool is_late() const;
  // Returns how long this rank waits for another one that is away.
  std::chrono::nanoseconds patience() const;

  struct State;
  explicit Communicator(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tributary
