// SPDX-License-Identifier: BSD-3-Clause
#include "host/communicator.h"

#include <mutex>
#include <optional>
#include <utility>

#include "host/call.h"
#include "host/communicator_state.h"
#include "host/journal/unread_variables.h"
#include "host/setup.h"

namespace tributary {
namespace {

using host::By;
using host::Call;
using host::call_of;
using host::Collective;

Call broadcast_of(void* inout, std::size_t count, wire::ElementType type, std::uint32_t root) {
  return call_of(Collective::broadcast, inout, inout, count, type, wire::any_operator(type), root);
}

Call with_all(Call call) {
  call.with_all = true;
  return call;
}
Call aside(Call call) {
  call.aside = true;
  return call;
}

}  // namespace

Communicator::Communicator(std::unique_ptr<State> state) : state_(std::move(state)) {}
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;
Communicator::~Communicator() = default;

Result<Communicator> Communicator::create(const CommunicatorOptions& options,
                                          const Result<void>& ready) {
  host::tell_of_unread_variables(options);
  if (options.membership == Membership::fixed) {
    return create(options, nullptr, ready);
  }
  return ready ? create_elastic(options) : tl::make_unexpected(ready.error());
}

// If `ready` is an error, or no journal can be written, this rank tells the others, and no rank
// gets a communicator.
Result<Communicator> Communicator::create(const CommunicatorOptions& options,
                                          host::Listener* listener, const Result<void>& ready,
                                          const std::atomic<bool>* given_up) {
  if (auto checked = host::check(options); !checked) {
    return tl::make_unexpected(checked.error());
  }
  auto journal = host::Journal::open(options);
  const auto prepared = journal ? ready : Result<void>(tl::make_unexpected(journal.error()));
  auto state = std::make_unique<State>();
  state->options = options;
  state->log_level = host::log_level_of(options);
  if (options.world_size > 1) {
    host::Deadline until(state->patience());
    until.obey(given_up);
    auto connections = host::connect(
        state->options, until,
        listener == nullptr ? std::nullopt : std::optional(std::move(*listener)), prepared);
    if (!connections) {
      return tl::make_unexpected(connections.error());
    }
    state->ring = std::move(connections->ring);
    state->carrier = std::move(connections->carrier);
    state->watch = std::move(connections->watch);
    if (auto selected = state->select(until); !selected) {
      return tl::make_unexpected(selected.error());
    }
  }
  if (!prepared) {
    return tl::make_unexpected(prepared.error());
  }
  state->journal = std::move(*journal);
  return Communicator(std::move(state));
}

Result<Communicator> Communicator::create_sharing(const CommunicatorOptions& options,
                                                  const host::Seating& seating,
                                                  const std::string& name,
                                                  host::Listener* listener) {
  auto journal = host::Journal::open(options);
  auto machine = host::MachineCollectives::create(
      options, seating, name, journal ? Result<void>() : tl::make_unexpected(journal.error()),
      listener);
  if (!machine) {
    return tl::make_unexpected(machine.error());
  }
  auto state = std::make_unique<State>();
  state->options = options;
  state->log_level = host::log_level_of(options);
  state->algorithm = (*machine)->known().algorithm.data();
  state->only_ring = state->algorithm == host::ring_algorithm;
  if (seating.machines() == 1) {
    state->notify(host::LogLevel::notice, std::to_string(seating.ranks()) +
                                              " ranks on one machine, which add up in its memory");
  }
  state->machine = std::move(*machine);
  state->journal = std::move(*journal);
  return Communicator(std::move(state));
}

const std::string& Communicator::algorithm() const {
  return state_->algorithm;
}

Result<void> Communicator::allreduce(const void* in, void* out, std::size_t count,
                                     wire::ElementType type, wire::Operator op) {
  return state_->run(call_of(Collective::allreduce, in, out, count, type, op));
}
Result<void> Communicator::reduce(const void* in, void* out, std::size_t count,
                                  wire::ElementType type, wire::Operator op, std::uint32_t root) {
  return state_->run(call_of(Collective::reduce, in, out, count, type, op, root));
}
Result<void> Communicator::broadcast(void* inout, std::size_t count, wire::ElementType type,
                                     std::uint32_t root) {
  return state_->run(broadcast_of(inout, count, type, root));
}
Result<void> Communicator::barrier() {
  return state_->run(Call{Collective::barrier, {}, 0});
}

void Communicator::abort() {
  state_->aborted = true;
  if (state_->machine) {
    state_->machine->shut_down();
  }
  const std::lock_guard lock(state_->closing);
  state_->aborted_here = true;
  if (state_->regrouping) {
    state_->elastic->member->give_up();
  }
  if (state_->ring) {
    state_->ring->shut_down();
  }
}

Result<void> Communicator::ring_allreduce(const void* in, void* out, std::size_t count,
                                          wire::ElementType type, wire::Operator op) {
  return state_->run_recorded(By::ring, call_of(Collective::allreduce, in, out, count, type, op));
}
Result<void> Communicator::ring_reduce(const void* in, void* out, std::size_t count,
                                       wire::ElementType type, wire::Operator op,
                                       std::uint32_t root) {
  return state_->run_recorded(By::ring,
                              call_of(Collective::reduce, in, out, count, type, op, root));
}
Result<void> Communicator::ring_broadcast(void* inout, std::size_t count, wire::ElementType type,
                                          std::uint32_t root) {
  return state_->run_recorded(By::ring, broadcast_of(inout, count, type, root));
}
Result<void> Communicator::ring_barrier() {
  return state_->run_recorded(By::ring, Call{Collective::barrier, {}, 0});
}

Result<SparseElements> Communicator::sparse_allreduce(std::span<const std::uint32_t> indices,
                                                      const void* values, std::size_t count,
                                                      wire::ElementType type, wire::Operator op) {
  return state_->run_sparse({indices, static_cast<const std::byte*>(values), count, type, op});
}
tl::unexpected<Error> Communicator::refuse_sparse(std::size_t count, std::string why) {
  state_->refuse_sparse(count);
  return fail(Error::Code::invalid_argument, std::move(why));
}
Result<void> Communicator::sketched_allreduce(std::span<const float> in, std::span<float> out,
                                              GradientSketch& sketch) {
  return state_->run_sketched({in, out}, sketch);
}

void Communicator::show_progress(std::uint64_t* pulse) {
  state_->pulse = pulse;
}

Result<void> Communicator::check(const Call& call) const {
  return state_->accept(state_->means_for(call), call);
}
Result<void> Communicator::run(const Call& call) {
  return state_->run(call);
}
Result<void> Communicator::run_within(const Call& call, const host::Deadline& until) {
  const auto by = state_->means_within(call);
  auto mine = until;
  mine.obey(&state_->aborted);
  state_->hurry(mine);
  auto done = state_->run_until(by, call, mine);
  if (!state_->is_alone()) {
    state_->count(by, name(call), done.has_value(), state_->is_by_plan(by, call));
  }
  return done;
}
Result<void> Communicator::run_in_pieces(const Call& call,
                                         const std::function<Result<void>()>& run) {
  const auto whole = state_->means_within(call);
  host::LargestPiece largest({whole, state_->is_by_plan(whole, call)});
  const auto pieces = [&] {
    const State::InPieces here(*state_, largest);
    return run();
  };
  if (call.aside) {
    return pieces();
  }
  const auto& [by, by_plan] = largest.means();
  auto done = state_->recorded(name(call), by, call.buffers.bytes(), pieces);
  if (!state_->is_alone()) {
    state_->count(by, name(call), done.has_value(), by_plan);
  }
  return done;
}
void Communicator::leave_out(const Call& call) {
  state_->skip(state_->means_within(call), call);
}
void Communicator::leave_out_gather(const Call& call) {
  state_->skip(state_->means_for_gather(call.buffers.count), with_all(call));
}
Result<void> Communicator::run_gather(const Call& call, std::size_t elements) {
  const auto by = state_->means_for_gather(elements);
  const auto able = state_->means_able(Call{Collective::barrier, {}, 0});
  return state_->run_counted(by, with_all(call), by != able);
}
Result<void> Communicator::run_with_all(const Call& call) {
  const auto by = state_->means_for_all(call);
  return state_->run_counted(by, with_all(call), state_->is_by_plan(by, call));
}
Result<void> Communicator::check_with_all(const Call& call) const {
  return state_->accept(state_->means_for_all(call), call);
}
Result<void> Communicator::run_aside(const Call& call) {
  return state_->run_by(state_->means_for_all(call), aside(with_all(call)));
}
void Communicator::notify(const std::string& line) const {
  state_->notify(host::LogLevel::warn, line);
}
Result<std::unique_ptr<host::Timeline>> Communicator::timeline_row(const std::string& name) const {
  return host::Journal::open_row(state_->options, name);
}
host::Limit& Communicator::limit() {
  return state_->limit;
}
bool Communicator::is_late() const {
  return state_->is_late();
}
std::chrono::nanoseconds Communicator::patience() const {
  return host::patience_of(state_->options);
}

std::uint32_t Communicator::rank() const {
  return state_->options.rank;
}
std::uint32_t Communicator::world_size() const {
  return state_->options.world_size;
}
std::uint32_t Communicator::job() const {
  if (state_->machine) {
    return state_->machine->known().job;
  }
  return state_->carrier ? state_->job().id : 0;
}
std::string Communicator::local_address() const {
  if (state_->machine) {
    return state_->machine->known().address.data();
  }
  return state_->carrier ? host::to_string(state_->job().self().ip()) : "";
}
bool Communicator::reproducible() const {
  return state_->options.reproducible;
}
std::uint32_t Communicator::payload_bytes_max() const {
  if (state_->machine) {
    return state_->machine->known().payload_bytes;
  }
  return state_->carrier ? state_->job().payload_bytes : 0;
}
std::uint32_t Communicator::window() const {
  if (state_->machine) {
    return state_->machine->known().window;
  }
  return state_->carrier ? state_->job().window : 0;
}
FullPacket Communicator::full_packet() const {
  if (state_->machine) {
    return state_->machine->known().full_packet;
  }
  return state_->carrier ? state_->carrier->full_packet() : FullPacket{};
}
bool Communicator::may_lack_ranks() const {
  return !state_->only_ring && state_->may_lack_ranks();
}
Result<std::vector<PartialResult>> Communicator::partial_results() const {
  if (state_->machine && may_lack_ranks()) {
    return fail(Error::Code::invalid_argument,
                "ranks that share a machine are not told which machines a sum lacks; make a "
                "communicator in which each rank stands for itself");
  }
  using Partial = Result<std::vector<PartialResult>>;
  const bool may_be_carried = state_->carrier && !state_->only_ring;
  auto partial = may_be_carried ? state_->carrier->partial_results() : Partial{};
  return partial.map([this](const auto& all) { return state_->last.seen(all); });
}
CommunicatorStatistics Communicator::statistics() const {
  return {state_->general_figures(), state_->carried()};
}

}  // namespace tributary
