// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "host/communicator_options.h"
#include "host/error.h"
#include "host/error_feedback.h"
#include "host/gradient_sketch.h"
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

// Of a packet that is full, and neither the first nor the last of what it belongs to, in bytes.
struct FullPacket {
  std::uint32_t elements = 0;
  std::uint32_t total = 0;  // from the IP header on, or behind that of Ethernet
};

// Of an elastic world: who is in it changes from one membership to the next.
struct MembershipState {
  std::uint64_t epoch = 0;      // counts memberships, from 1; 0: the world is fixed
  std::uint32_t newcomers = 0;  // how many of its ranks were in none before; rank 0 is none of them
  std::uint32_t waiting = 0;    // to join with the next one, as far as this rank has heard
  bool ended = false;           // somebody is gone, or regroups: nothing more is carried out
};

// A group of ranks that reduce vectors together. All ranks call the same collectives in the same
// order with the same count, type, operator and root. Calls block; one thread at a time. A call
// ends with the exact outcome, every contribution in it once, or with an error: when it makes no
// progress, and by the deadline if there is one. After an error the contents of `out` are
// undefined.
//
// Between calls a thread of the library answers ranks that lost what this one sent last; it sleeps
// while there is nothing to answer. The destructor waits for the other ranks' destructors, up to
// two seconds, so that nobody is left without an answer.
class Communicator {
 public:
  static Result<Communicator> create(const CommunicatorOptions& options);
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;
  ~Communicator();

  // By which algorithm the following run, as was found out at creation: that of a protocol, or
  // "ring" (by the hosts alone, over TCP), which collectives take that the protocol does not have,
  // and by "auto" those for whose size hosts are faster.
  const std::string& algorithm() const;

  // `in` and `out` are the same or do not overlap; nothing need be aligned. Floats of 16 and 8
  // bits are added in f32 and rounded where a partial sum is sent on; sums that are reproducible
  // are rounded once. Pairs (reduce::indexed) have no operators but minloc and maxloc, which
  // nothing else has, and handlers. Of a handler (wire::handler_operator(number), see
  // host/handlers.h) the type is the one that it was loaded for; a struct of one's own is an
  // opaque4, opaque8 or opaque16. It combines payload_bytes_max() bytes of the vectors at a time,
  // in any order of the ranks.
  Result<void> allreduce(const void* in, void* out, std::size_t count, wire::ElementType type,
                         wire::Operator op);
  // The result is in `out` of `root`; that of other ranks is left alone and may be null.
  Result<void> reduce(const void* in, void* out, std::size_t count, wire::ElementType type,
                      wire::Operator op, std::uint32_t root);
  // From `inout` of `root` to that of all others.
  Result<void> broadcast(void* inout, std::size_t count, wire::ElementType type,
                         std::uint32_t root);
  // Returns when all ranks have called it.
  Result<void> barrier();
  // `count` elements of each rank, which all get, by rank: `out` has room for so many of each. `in`
  // may be what is at this rank's place there.
  Result<void> allgather(const void* in, void* out, std::size_t count, wire::ElementType type);
  // The result's part for this rank: `count` elements, of as many for each rank in `in`.
  Result<void> reduce_scatter(const void* in, void* out, std::size_t count, wire::ElementType type,
                              wire::Operator op);

  // Ends the collective that is running, with Error::Code::aborted and within a second, and all
  // later ones. Neighbours that are in one of the ring notice at once, other ranks by their time
  // limits. Any thread may call it.
  void abort();

  // By the ring, whatever algorithm() is. Where sums are reproducible, the bits are the same ones.
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

  // The sum of the ranks' vectors of `count` elements, of which each rank gives those that are not
  // zero: strictly increasing indices, and as many values. Carried by the switches where
  // algorithm() has that and it was asked for, or else by the ring of the hosts. The sum has the
  // same form on all ranks, and the same bits.
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
  template <typename T>
  Result<SparseVector<T>> sparse_allreduce(const SparseVector<T>& in,
                                           wire::Operator op = wire::Operator::sum) {
    return sparse_allreduce(std::span(in.indices), std::span(in.values), in.count, op);
  }
  // Of a dense vector, what is selected of it and of what `feedback` kept back; the rest is kept
  // back there, and all of it if the call fails.
  template <typename T>
  Result<SparseVector<T>> sparse_allreduce(std::span<const std::type_identity_t<T>> in,
                                           const Selection& selection, ErrorFeedback<T>& feedback) {
    if (in.size() != feedback.residual().size()) {
      return refuse_sparse(in.size(), "the vector has another length than its ErrorFeedback");
    }
    const auto sent = feedback.take(in, selection);
    auto sum = sparse_allreduce(sent);
    if (!sum) {
      feedback.give_back(sent);
    }
    return sum;
  }

  // The sum of the ranks' vectors, each rounded to a few bits for an element (see GradientSketch).
  // All ranks have the same bits. What is kept back in `sketch` is given with the vector; if the
  // call fails, all of it is kept back. `in` and `out` are as long as the sketch, and the same or
  // do not overlap. All ranks have sketches of the same kind and bits, and of the same matrix.
  Result<void> sketched_allreduce(std::span<const float> in, std::span<float> out,
                                  GradientSketch& sketch);
  Result<void> sketched_allreduce(std::span<float> inout, GradientSketch& sketch) {
    return sketched_allreduce(inout, inout, sketch);
  }

  // Of an elastic world (CommunicatorOptions::membership): all members call it, after the same
  // collective or after one that failed, and get the communicator of the next membership, with its
  // ranks and its size; this one ends, and fails whatever is called, with
  // Error::Code::membership_ended. Members that are gone are left out, as are those that do not
  // call it within the stall timeout or deadline, whichever is shorter, of the first call; who
  // waits to join is taken in. Who stays keeps its rank, but for ranks that would be left out in
  // between; rank 0 is one of them. With `world_size`, others are waited for until there are so
  // many, as long as that. After an error it may be called again, unless that is membership_ended:
  // this process is no member any more; or aborted, by abort().
  Result<Communicator> regroup(std::uint32_t world_size = 0);
  MembershipState membership() const;

  std::uint32_t rank() const;
  std::uint32_t world_size() const;
  // As chosen or drawn; 0 for a single rank.
  std::uint32_t job() const;
  // Of this rank, as the others know it; empty for a single rank.
  std::string local_address() const;
  // Whether sums are; as the options said.
  bool reproducible() const;
  // Of a full packet, as the ranks agreed; 0 for a single rank.
  std::uint32_t payload_bytes_max() const;
  std::uint32_t window() const;
  FullPacket full_packet() const;  // likewise
  // Collectives that succeeded by each algorithm, but for those that name the ring; and what the
  // protocol counted, with the packets by which creation found out about the network.
  CommunicatorStatistics statistics() const;

 private:
  friend class host::Bootstrap;
  // Rank 0 is met where it listens already, if it does. Another thread gives it up by the flag.
  static Result<Communicator> create(const CommunicatorOptions& options, host::Listener* listener,
                                     const Result<void>& ready = {},
                                     const std::atomic<bool>* given_up = nullptr);
  // Ranks of one machine go to the others together. `name`: no other communicator's. Handlers and
  // sparse vectors are refused.
  static Result<Communicator> create_sharing(const CommunicatorOptions& options,
                                             const host::Seating& seating, const std::string& name,
                                             host::Listener* listener);

  friend class host::CubeNetworks;
  // In communicator_membership.cpp.
  static Result<Communicator> create_elastic(const CommunicatorOptions& options);
  static Result<Communicator> form(const std::shared_ptr<host::Member>& member,
                                   const CommunicatorOptions& options, std::uint64_t after,
                                   std::chrono::nanoseconds patience);
  static Result<Communicator> meet(host::Member& member, const CommunicatorOptions& options,
                                   const host::MembershipPlace& place,
                                   const std::atomic<bool>& given_up);

  friend class ParallelCommunicator;
  // What goes up from now on with every progress of a collective. It outlives this object.
  void show_progress(std::uint64_t* pulse);
  // As any call of sparse_allreduce that this rank refuses.
  tl::unexpected<Error> refuse_sparse(std::size_t count, std::string why);

  friend class host::MachineCollectives;
  // As run(), but for the limits, which are the caller's.
  Result<void> run_within(const host::Call& call, const host::Deadline& until);
  // Counts on this rank, as a call that is refused.
  void leave_out(const host::Call& call);

  friend class CollectiveQueue;
  friend class GradientExchange;
  friend class host::Stream;
  // Whether its arguments make sense. Nothing is sent; any thread may ask at any time.
  Result<void> check(const host::Call& call) const;
  Result<void> run(const host::Call& call);
  // The same, with everybody in it even where others leave some out.
  Result<void> run_with_all(const host::Call& call);
  // Whether that would refuse it on all ranks, for its size.
  Result<void> check_with_all(const host::Call& call) const;
  // And that is not counted.
  Result<void> run_aside(const host::Call& call);
  void notify(const std::string& line) const;
  // One more row of its timeline; null where there is none.
  Result<std::unique_ptr<host::Timeline>> timeline_row(const std::string& name) const;
  // By when what runs next, or runs, has to end, beside the limits of the options. What has not
  // begun by then counts, and fails, and leaves its buffers alone.
  host::Limit& limit();
  bool is_late() const;
  // For how long another rank may be away.
  std::chrono::nanoseconds patience() const;

  struct State;
  explicit Communicator(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tributary
