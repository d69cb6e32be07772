// SPDX-License-Identifier: BSD-3-Clause
#include "host/parallel/parallel_communicator.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "host/call.h"
#include "host/call_check.h"
#include "host/clock.h"
#include "host/deadline.h"
#include "host/journal/unread_variables.h"
#include "host/parallel/machine_group.h"
#include "host/parallel/slabs.h"
#include "host/protocol.h"
#include "host/setup.h"
#include "host/transport/address.h"

namespace tributary {
namespace {

using host::Call;
using host::Clock;
using host::Deadline;
using host::Duration;
using host::MachineGroup;
using host::piece_number;
using host::Range;
using host::share_of;
using host::slab_bytes;

// The arithmetic of clocks ends beyond that.
constexpr std::chrono::hours longest{24 * 365};

Result<void> check(const ParallelOptions& options) {
  const auto& [all, local_rank, local_size, hierarchy] = options;
  const auto invalid = [](std::string why) {
    return fail(Error::Code::invalid_argument, std::move(why));
  };
  if (all.membership != Membership::fixed) {
    return invalid(
        "ranks that share a machine stay the same: leave TRIBUTARY_MEMBERSHIP at fixed, or make a "
        "Communicator in which each rank stands for itself");
  }
  if (local_size == 0 || local_rank >= local_size || all.world_size % local_size != 0) {
    return invalid(
        "LOCAL_RANK is below LOCAL_WORLD_SIZE, which divides WORLD_SIZE; here they are " +
        std::to_string(local_rank) + ", " + std::to_string(local_size) + " and " +
        std::to_string(all.world_size));
  }
  if (all.rank % local_size != local_rank) {
    return invalid("the ranks of a machine follow each other: with LOCAL_WORLD_SIZE " +
                   std::to_string(local_size) + " rank " + std::to_string(all.rank) +
                   " has LOCAL_RANK " + std::to_string(all.rank % local_size) + ", not " +
                   std::to_string(local_rank));
  }
  if (all.reproducible && local_size > 1) {
    return invalid(
        "the ranks of a machine add up among themselves first, in floats, so that sums would "
        "depend "
        "on who shares a machine: leave reproducible off (TRIBUTARY_REPRODUCIBLE=0), or make a "
        "Communicator of all ranks instead");
  }
  return {};
}

// Says how the group of machines that this rank belongs to works together.
struct Between {
  CommunicatorOptions options;
  Hierarchy hierarchy;
};

Result<Between> plan_between(const ParallelOptions& options) {
  const auto place = host::resolve(options.communicator.rendezvous);
  if (!place) {
    return tl::make_unexpected(place.error());
  }
  const bool is_automatic = options.hierarchy == Hierarchy::automatic;
  Between plan{options.communicator, is_automatic ? Hierarchy::parallel : options.hierarchy};
  auto& between = plan.options;
  between.rank /= options.local_world_size;
  between.world_size /= options.local_world_size;
  between.local_world_size = plan.hierarchy == Hierarchy::parallel ? options.local_world_size : 1;
  const std::uint32_t port = place->port + 1u + options.local_rank;
  if (port > UINT16_MAX) {
    return fail(Error::Code::invalid_argument,
                "the ports behind that of the rendezvous are needed, too; choose a lower one");
  }
  between.rendezvous =
      host::to_string(host::Endpoint::at(place->ip(), static_cast<std::uint16_t>(port)));
  if (options.local_rank != 0) {
    between.parameters.erase("report");  // one of each machine speaks for it
  }
  between.job = between.job == 0 ? 0 : between.job + options.local_rank;
  if (auto checked = host::check_parameters(between); !checked) {
    return tl::make_unexpected(checked.error());
  }
  const auto* const protocol = host::protocol_of(between);
  if (between.local_world_size < 2 || protocol == nullptr || protocol->divide == nullptr) {
    return plan;
  }
  if (auto divided = protocol->divide(between, options.local_rank); !divided) {
    if (!is_automatic) {
      return tl::make_unexpected(divided.error());
    }
    plan.hierarchy = Hierarchy::tencent;
    between.local_world_size = 1;
  }
  return plan;
}

// Ranks that are done are more patient by so much than those which still meet other machines.
constexpr auto grace = std::chrono::seconds(1);
// The ranks of a machine say this when they have met the others of their group, or have failed to;
// no hierarchy has the number.
constexpr std::uint64_t have_met = 16;

// Checks that all chose the same, as each rank chooses by its own options.
Result<void> agree(MachineGroup& group, Hierarchy hierarchy, host::Time until) {
  auto agreed = group.barrier({static_cast<std::uint64_t>(hierarchy)}, until);
  if (!agreed && agreed.error().code == Error::Code::mismatch) {
    return fail(Error::Code::rendezvous,
                "the ranks of this machine chose different hierarchies, this one " +
                    std::string(name(hierarchy)) +
                    "; give all of them the same TRIBUTARY_* environment, or set "
                    "ParallelOptions::hierarchy");
  }
  return agreed;
}

}  // namespace

std::string_view name(Hierarchy hierarchy) {
  constexpr std::string_view names[] = {"parallel", "tencent", "auto"};
  return names[static_cast<std::size_t>(hierarchy)];
}

std::optional<Hierarchy> hierarchy_of(std::string_view text) {
  for (const auto hierarchy : {Hierarchy::parallel, Hierarchy::tencent, Hierarchy::automatic}) {
    if (name(hierarchy) == text) {
      return hierarchy;
    }
  }
  return std::nullopt;
}

struct ParallelCommunicator::State {
  // Fails if the arguments of a call make no sense.
  Result<void> check(const Call& call) const;
  // A call that fails is counted to its end, so that the next one has the same number on all
  // machines, and nothing of this one passes for part of it.
  Result<void> run(const Call& call);
  // Has the others of this machine fail in a call that this rank refuses, and counts it.
  void refuse(const Call& call, const Error& error);

  Result<void> run_slabs(const Call& call, const Deadline& until);
  Result<void> run_slab(const Call& slab, const Deadline& until);
  // After this, the results have what the ranks of this machine brought.
  Result<void> gather(const Call& slab, const Deadline& until);
  // Counts a slab that the other machines may have begun and this rank has not.
  void leave_out(const Call& slab);
  // Ends what goes between the machines once this one's ranks cannot give anything more: otherwise
  // the other machines would wait for it as for one that is late.
  void end_with_group() {
    if (group.has_ended() && between) {
      between->abort();
    }
  }
  // Returns this rank's part of what goes between the machines.
  Range range_between(std::size_t count) const {
    return hierarchy == Hierarchy::tencent ? Range{0, count}
                                           : share_of(count, group.rank(), group.size());
  }
  // Returns what this rank carries of a call between the machines.
  Call part_between(Call call) {
    call.buffers.in = call.buffers.out = group.results();
    call.buffers.count = range_between(call.buffers.count).size();
    return call;
  }
  Deadline deadline() const { return host::deadline_of(options.communicator, Clock::now()); }
  // Returns until when to wait for others, as long as any of them may still be busy between the
  // machines.
  Deadline patience() const { return deadline().longer_by(grace); }

  ParallelOptions options;
  Hierarchy hierarchy;
  MachineGroup group;
  std::optional<Communicator> between{};  // none where another rank does it
};

Result<void> ParallelCommunicator::State::check(const Call& call) const {
  const auto type = call.buffers.type;
  const auto op = call.buffers.op;
  if (!wire::is_valid(type, op)) {
    return fail(Error::Code::invalid_argument,
                std::string(wire::valid_combinations) + "; type and operator must be known ones");
  }
  if (wire::is_handler(op)) {
    return fail(Error::Code::invalid_argument,
                "the ranks of a machine cut vectors where a handler may not expect it; make a "
                "Communicator of all ranks for " +
                    std::string(wire::name(op)));
  }
  return host::check(call, options.communicator);
}

Result<void> ParallelCommunicator::State::run(const Call& call) {
  const auto until = deadline();
  if (between && options.communicator.deadline) {  // it is that of all slabs together
    between->limit().lift();
    between->limit().bring_forward(Clock::now() +
                                   std::min<Duration>(*options.communicator.deadline, longest));
  }
  const auto run = [&] { return run_slabs(call, until); };
  auto done = between ? between->run_in_pieces(part_between(call), run) : run();
  end_with_group();
  return done;
}

Result<void> ParallelCommunicator::State::run_slabs(const Call& call, const Deadline& until) {
  Result<void> done;
  host::for_pieces(call, [&](const Call& slab) {
    if (done) {
      done = run_slab(slab, until);
    } else {
      leave_out(slab);
    }
  });
  return done;
}

void ParallelCommunicator::State::refuse(const Call& call, const Error& error) {
  bool first = true;
  host::for_pieces(host::countable(call), [&](const Call& slab) {
    if (first) {
      (void)group.barrier({piece_number(slab), &error}, deadline());
    }
    first = false;
    leave_out(slab);
  });
  end_with_group();
}

Result<void> ParallelCommunicator::State::gather(const Call& slab, const Deadline& until) {
  const auto& buffers = slab.buffers;
  std::memcpy(group.slab(group.rank()), buffers.in, buffers.bytes());
  // Nobody overwrites results that somebody still copies, either: a rank that is here has copied.
  if (auto ready = group.barrier({piece_number(slab)}, until); !ready) {
    return ready;
  }
  host::reduce_slabs(group, share_of(buffers.count, group.rank(), group.size()), buffers.type,
                     buffers.op);
  return hierarchy == Hierarchy::tencent ? group.barrier({}, until) : Result<void>();
}

Result<void> ParallelCommunicator::State::run_slab(const Call& slab, const Deadline& until) {
  if (auto gathered = gather(slab, until); !gathered) {
    leave_out(slab);
    return gathered;
  }
  const auto& [in, out, count, type, op] = slab.buffers;
  Result<void> summed;
  if (between) {
    const auto range = range_between(count);
    auto* const sum = group.results() + range.begin * wire::element_bytes(type);
    summed = between->allreduce(sum, sum, range.size(), type, op);
  }
  const auto concluded =
      group.barrier({piece_number(slab), summed ? nullptr : &summed.error()}, patience());
  if (!summed || !concluded) {
    return summed ? concluded : summed;
  }
  std::memcpy(out, group.results(), slab.buffers.bytes());
  return {};
}

void ParallelCommunicator::State::leave_out(const Call& slab) {
  if (between) {
    between->leave_out(part_between(slab));
  }
}

ParallelCommunicator::ParallelCommunicator(std::unique_ptr<State> state)
    : state_(std::move(state)) {}
ParallelCommunicator::ParallelCommunicator(ParallelCommunicator&&) noexcept = default;
ParallelCommunicator& ParallelCommunicator::operator=(ParallelCommunicator&&) noexcept = default;
ParallelCommunicator::~ParallelCommunicator() = default;

Result<ParallelCommunicator> ParallelCommunicator::create(const ParallelOptions& options) {
  if (auto checked = check(options); !checked) {
    return tl::make_unexpected(checked.error());
  }
  host::tell_of_unread_variables(options.communicator);
  const auto plan = plan_between(options);
  if (!plan) {
    return tl::make_unexpected(plan.error());
  }
  const auto& all = options.communicator;
  const auto until = Clock::now() + host::patience_of(all);
  const auto machine = std::to_string(all.rank / options.local_world_size);
  auto group = MachineGroup::join(
      {"tributary " + all.rendezvous + " " + machine, options.local_rank, options.local_world_size},
      slab_bytes, until);
  if (!group) {
    return tl::make_unexpected(group.error());
  }
  if (auto agreed = agree(*group, plan->hierarchy, until); !agreed) {
    return tl::make_unexpected(agreed.error());
  }
  auto state = std::make_unique<State>(State{options, plan->hierarchy, std::move(*group)});
  Result<void> met;
  if (plan->hierarchy == Hierarchy::parallel || options.local_rank == 0) {
    met = Communicator::create(plan->options).map([&](Communicator made) {
      state->between = std::move(made);
      state->between->show_progress(state->group.pulse());
    });
  }
  const auto latest = Clock::now() + host::patience_of(all) + grace;
  const auto all_met = state->group.barrier({have_met, met ? nullptr : &met.error()}, latest);
  if (!met || !all_met) {
    return tl::make_unexpected(met ? all_met.error() : met.error());
  }
  return ParallelCommunicator(std::move(state));
}

Result<void> ParallelCommunicator::allreduce(const void* in, void* out, std::size_t count,
                                             wire::ElementType type, wire::Operator op) {
  const auto call = host::call_of(host::Collective::allreduce, in, out, count, type, op);
  const auto checked = state_->check(call);
  if (count == 0) {  // nobody begins it
    return checked;
  }
  if (!checked) {
    state_->refuse(call, checked.error());
    return checked;
  }
  return state_->run(call);
}

Hierarchy ParallelCommunicator::hierarchy() const {
  return state_->hierarchy;
}
const Communicator* ParallelCommunicator::between_machines() const {
  return state_->between ? &*state_->between : nullptr;
}

}  // namespace tributary
