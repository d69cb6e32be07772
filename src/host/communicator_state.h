// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/call.h"
#include "host/carrier.h"
#include "host/clock.h"
#include "host/communicator.h"
#include "host/deadline.h"
#include "host/exact/steps.h"
#include "host/journal/journal.h"
#include "host/journal/log.h"
#include "host/journal/sketch_bytes.h"
#include "host/limit.h"
#include "host/means.h"
#include "host/membership/member.h"
#include "host/membership/messages.h"
#include "host/parallel/machine_collectives.h"
#include "host/protocol.h"
#include "host/ring/ring.h"
#include "host/setup.h"
#include "host/sketch/scratch.h"
#include "host/sketch/vectors.h"
#include "host/step.h"
#include "host/transport/peer_watch.h"
#include "host/tuning/plan.h"

namespace tributary {
namespace host {

// What a communicator of an elastic world has in addition.
struct Elastic {
  std::shared_ptr<Member> member;
  MembershipPlace place;        // this rank's place in the communicator's membership
  CommunicatorOptions options;  // for the next membership, but for rank and world size
};

// The result of the last collective.
struct LastResult {
  bool carried = false;  // by the carrier
  // The caller has these elements of it: a part, if it is a reduce-scatter.
  std::size_t first = 0;
  std::size_t end = std::numeric_limits<std::size_t>::max();

  // Returns what of these lacks whom, by the numbers that the elements have for the caller.
  std::vector<PartialResult> seen(const std::vector<PartialResult>& partial) const;
};

}  // namespace host

// The state of a communicator, and how it carries out its collectives.
struct Communicator::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  // Returns the deadline of a collective that begins now.
  host::Deadline deadline() const {
    auto deadline = host::deadline_of(options, host::Clock::now());
    deadline.show(pulse);
    deadline.obey(&aborted);
    deadline.obey(&limit);
    hurry(deadline);
    return deadline;
  }
  // Has a deadline wait no longer for ranks that are late once one is gone.
  void hurry(host::Deadline& deadline) const {
    if (watch) {
      deadline.hurry_when(&watch->is_one_gone(), host::stall_of(options));
    }
  }
  // Tells whether there is no other rank.
  bool is_alone() const { return !carrier && !machine; }
  ProtocolStatistics carried() const {
    if (machine) {
      return machine->statistics();
    }
    return carrier ? carrier->statistics() : ProtocolStatistics{};
  }
  // Tells whether a collective that begins now has to end at once, as the limit has passed.
  bool is_late() const { return limit.at() != host::never && limit.passed(host::Clock::now()); }
  // Returns until when to wait for something that makes no progress.
  host::Time patience() const { return host::Clock::now() + host::patience_of(options); }
  Result<void> select(const host::Deadline& until);
  Result<void> tune(const host::Deadline& until);
  void give_up_measuring(const std::string& failure);
  void notify(host::LogLevel level, const std::string& line) const;
  void tell(const std::string& line) const;
  Result<void> run(const host::Call& call);
  // `by_plan`: the ring has it because it is faster, though the carrier could carry it.
  Result<void> run_counted(host::By by, const host::Call& call, bool by_plan);
  Result<void> run_recorded(host::By by, const host::Call& call);
  bool may_tune() const;
  bool may_lack_ranks() const;
  bool hosts_are_faster(const host::Call& call) const;
  host::By means_able(const host::Call& call) const;
  host::By means_for(const host::Call& call) const;
  host::By means_for_all(const host::Call& call) const;
  // Of a call of machines, whose ranks made it together.
  host::By means_within(const host::Call& call) const {
    return call.with_all ? means_for_all(call) : means_for(call);
  }
  host::By means_for_gather(std::size_t elements) const;
  bool is_by_plan(host::By by, const host::Call& call) const;
  Figures general_figures() const;
  host::exact::Manner manner_of(const host::Call& call) const;
  Result<void> accept(host::By by, const host::Call& call) const;
  Result<void> accept_bytes(host::By by, std::size_t bytes) const;
  Result<void> run_by(host::By by, const host::Call& call);
  Result<void> run_until(host::By by, const host::Call& call, const host::Deadline& until);
  Result<void> not_begun(std::string_view collective);
  Result<void> run_in_manner(host::By by, const host::Call& call, const host::Deadline& until);
  Result<void> run_whole(host::By by, const host::Call& call, const host::Deadline& until);
  Result<void> run_in_steps(host::By by, const host::Call& call, const host::Deadline& until);
  // The steps of a sketch (outer) are calls like any others, of which nobody may be missing; the
  // steps of a call (inner) are carried out as they are.
  enum class Nesting : std::uint8_t { outer, inner };
  Result<void> carry_out(host::By by, host::Steps& steps, const host::Deadline& until,
                         Nesting nesting);
  void skip_all(host::By by, host::Steps& steps, Nesting nesting);
  Result<void> run_carrier(const host::Call& call, const host::Deadline& until);
  Result<void> run_ring(const host::Call& call, const host::Deadline& until);
  Result<void> carry_by_ring(const host::Call& call, const host::Deadline& until);
  void skip(host::By by, const host::Call& call);
  void skip_whole(host::By by, const host::Call& call);
  // These carry sparse and sketched vectors, in communicator_vectors.cpp.
  host::By means_for_sparse() const;
  Result<SparseElements> run_sparse(const host::SparseBuffers& buffers);
  Result<SparseElements> run_sparse_by(host::By by, const host::SparseBuffers& buffers);
  void refuse_sparse(std::size_t count);
  Result<void> run_sketched(const host::sketch::Vectors& vectors, GradientSketch& sketch);
  Result<void> run_sketched_in(host::Steps& steps, const host::Call& sums, std::size_t elements,
                               const Result<void>& checked);
  void count(host::By by, std::string_view what, bool succeeded, bool by_plan);
  std::string why_by_ring(std::string_view what, bool by_plan) const;
  // These end the communicator, in communicator_end.cpp.
  void end();
  void report();
  void conclude();
  std::vector<host::Duration> times_in_collectives();
  void finalize();
  // These are about elastic worlds, in communicator_membership.cpp.
  void adopt(host::Elastic found);
  void await_reason(const Error& error);
  void pass_on_loss(const Error& error);
  void end_membership();
  Result<Communicator> regroup(std::uint32_t world_size);
  Result<Communicator> find_next(std::uint32_t world_size);
  tl::unexpected<Error> fail_as_aborted() const;
  // Notes whether a collective has failed, and returns its outcome. The error of one that failed is
  // the abort, or the end of the membership, if that was the reason.
  template <typename T>
  Result<T> outcome_of(Result<T> done) {
    failed = !done;
    if (failed) {
      pass_on_loss(done.error());
    }
    if (failed && !is_late()) {
      await_reason(done.error());
    }
    if (failed && aborted) {
      return fail_as_aborted();
    }
    return done;
  }
  // Runs a collective of that name, with so many bytes on this rank, and notes it in the journal.
  // `by` is read when it has run: pieces tell what carries their call.
  template <typename Run>
  auto recorded(std::string_view what, const host::By& by, std::size_t bytes, Run run) {
    const auto began = journal ? host::Clock::now() : host::Time{};
    last = {};
    auto done = run();
    if (journal && largest_piece == nullptr) {
      const auto means = by == host::By::ring ? host::ring_algorithm : std::string_view(algorithm);
      journal->note({what, means, bytes, began, host::Clock::now(), !done});
    }
    return done;
  }
  // While it exists, what runs is a piece, and neither recorded nor counted.
  class InPieces {
   public:
    InPieces(State& state, host::LargestPiece& largest) : state_(state) {
      state_.largest_piece = &largest;
    }
    InPieces(const InPieces&) = delete;
    InPieces& operator=(const InPieces&) = delete;
    ~InPieces() { state_.largest_piece = nullptr; }

   private:
    State& state_;
  };
  // Precondition: there are two ranks or more.
  const host::Job& job() const { return carrier->runner().job(); }

  CommunicatorOptions options;
  std::unique_ptr<host::Carrier> carrier;  // of two ranks or more, as is the ring
  std::optional<host::Ring> ring;
  std::unique_ptr<host::PeerWatch> watch;  // of the ring's connections, behind which it ends
  // Ranks that share machines have this instead of both.
  std::unique_ptr<host::MachineCollectives> machine;
  std::string algorithm{host::ring_algorithm};
  bool only_ring = true;  // the algorithm is the ring
  bool selected = false;
  std::uint64_t collectives_by_carrier = 0;
  std::uint64_t collectives_by_ring = 0;
  std::uint64_t failures = 0;
  host::LargestPiece* largest_piece = nullptr;  // of a call in pieces that is carried out
  // Tells which of the two carries what both could.
  host::tuning::Plan plan;
  std::uint64_t collectives_by_plan = 0;  // those by the ring because the hosts were faster
  host::Duration tuned_for{};
  std::string fallback;                          // why the ring carries everything, if it does
  std::map<std::string, std::uint64_t> reasons;  // how many the ring has carried for which reason
  host::SketchBytes sketched;
  host::exact::Scratch scratch;
  host::sketch::Scratch sketch_scratch;
  bool failed = false;  // the last collective has
  host::LastResult last;
  std::uint64_t* pulse = nullptr;  // see show_progress()
  std::atomic<bool> aborted = false;
  host::Limit limit;  // of the request that is carried out
  host::Time created = host::Clock::now();
  std::unique_ptr<host::Journal> journal;  // null unless a report or a timeline is wanted
  host::LogLevel log_level = host::LogLevel::notice;
  std::optional<host::Elastic> elastic;
  std::atomic<bool> regrouped = false;  // this rank has asked for the next membership
  // Guards what follows, and the end of the ring, since abort() of another thread uses both.
  std::mutex closing;
  bool regrouping = false;
  std::atomic<bool> aborted_here = false;  // by abort()
};

}  // namespace tributary
