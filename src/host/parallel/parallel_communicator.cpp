// SPDX-License-Identifier: BSD-3-Clause
#include "host/parallel/parallel_communicator.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "host/call.h"
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

using host::Buffers;
using host::Clock;
using host::Deadline;
using host::MachineGroup;
using host::Range;
using host::share_of;
using host::slab_bytes;

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
  Result<void> allreduce_slab(const Buffers& buffers, const Deadline& until);
  // Returns until when to wait for others, as long as any of them may still be busy between the
  // machines.
  Deadline patience() const {
    return host::deadline_of(options.communicator, Clock::now()).longer_by(std::chrono::seconds(1));
  }
  // Brings this rank's range of the results to the other machines and back.
  Result<void> allreduce_between(std::size_t count, wire::ElementType type, wire::Operator op,
                                 const Deadline& until);

  ParallelOptions options;
  Hierarchy hierarchy;
  MachineGroup group;
  std::optional<Communicator> between{};  // none where another rank does it
};

Result<void> ParallelCommunicator::State::allreduce_between(std::size_t count,
                                                            wire::ElementType type,
                                                            wire::Operator op,
                                                            const Deadline& until) {
  Range range = share_of(count, group.rank(), group.size());
  if (hierarchy == Hierarchy::tencent) {
    if (auto reduced = group.barrier({}, until); !reduced || !between) {
      return reduced;
    }
    range = {0, count};
  }
  auto* const sum = group.results() + range.begin * wire::element_bytes(type);
  return between->allreduce(sum, sum, range.size(), type, op);
}

Result<void> ParallelCommunicator::State::allreduce_slab(const Buffers& buffers,
                                                         const Deadline& until) {
  const auto& [in, out, count, type, op] = buffers;
  std::memcpy(group.slab(group.rank()), in, buffers.bytes());
  // Nobody overwrites results that somebody still copies, either: a rank that is here has copied.
  const std::uint64_t what =
      count << 16 | static_cast<std::uint64_t>(type) << 8 | static_cast<std::uint64_t>(op);
  if (auto ready = group.barrier({what}, until); !ready) {
    return ready;
  }
  host::reduce_slabs(group, share_of(count, group.rank(), group.size()), type, op);
  auto summed = allreduce_between(count, type, op, until);
  auto gathered = group.barrier({what, summed ? nullptr : &summed.error()}, patience());
  if (!summed || !gathered) {
    return summed ? gathered : summed;
  }
  std::memcpy(out, group.results(), buffers.bytes());
  return {};
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
  if (plan->hierarchy == Hierarchy::parallel || options.local_rank == 0) {
    auto made = Communicator::create(plan->options);
    if (!made) {
      return tl::make_unexpected(made.error());
    }
    state->between = std::move(*made);
    state->between->show_progress(state->group.pulse());
  }
  return ParallelCommunicator(std::move(state));
}

Result<void> ParallelCommunicator::allreduce(const void* in, void* out, std::size_t count,
                                             wire::ElementType type, wire::Operator op) {
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
  if (count != 0 && (in == nullptr || out == nullptr)) {
    return fail(Error::Code::invalid_argument, "null buffer");
  }
  const auto until = host::deadline_of(state_->options.communicator, Clock::now());
  const std::size_t slab_elements = slab_bytes / wire::element_bytes(type);
  for (std::size_t first = 0; first < count; first += slab_elements) {
    const auto offset = first * wire::element_bytes(type);
    auto done = state_->allreduce_slab(
        {static_cast<const std::byte*>(in) + offset, static_cast<std::byte*>(out) + offset,
         std::min(slab_elements, count - first), type, op},
        until);
    if (!done) {
      return done;
    }
  }
  return {};
}

Hierarchy ParallelCommunicator::hierarchy() const {
  return state_->hierarchy;
}
const Communicator* ParallelCommunicator::between_machines() const {
  return state_->between ? &*state_->between : nullptr;
}

}  // namespace tributary
