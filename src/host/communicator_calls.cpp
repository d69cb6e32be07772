// SPDX-License-Identifier: BSD-3-Clause
// This part of a communicator carries out one collective, or gives it up in step with the others.
#include <cstring>

#include "host/call_check.h"
#include "host/communicator_state.h"

namespace tributary {
namespace {

using host::Buffers;
using host::By;
using host::Call;
using host::Collective;
using host::exact::Manner;

void copy(const Buffers& buffers) {
  if (buffers.in != buffers.out && buffers.count != 0) {
    std::memcpy(buffers.out, buffers.in, buffers.bytes());
  }
}

}  // namespace

Result<void> Communicator::State::accept(By by, const Call& call) const {
  if (auto checked = host::check(call, options); !checked) {
    return checked;
  }
  if (machine && host::needs_handler(call)) {
    return fail(Error::Code::invalid_argument,
                "ranks that share a machine cut vectors where a handler may not expect it; make "
                "a communicator in which each rank stands for itself for " +
                    std::string(wire::name(call.buffers.op)));
  }
  const bool in_pieces = manner_of(call) == Manner::in_steps;
  return accept_bytes(by, in_pieces ? host::exact::Steps::piece_bytes : call.buffers.bytes());
}

Result<void> Communicator::State::accept_bytes(By by, std::size_t bytes) const {
  if (carrier && by == By::carrier && bytes / job().payload_bytes + 2 >= carrier->packets_max()) {
    return fail(Error::Code::invalid_argument, "too many elements for one collective; split it");
  }
  return {};
}

Result<void> Communicator::State::run_by(By by, const Call& call) {
  return run_until(by, call, deadline());
}

Result<void> Communicator::State::run_until(By by, const Call& call, const host::Deadline& until) {
  if (is_late()) {
    skip(by, call);
    return not_begun(name(call));
  }
  if (auto accepted = accept(by, call); !accepted) {
    skip(by, call);
    return accepted;
  }
  if (aborted) {
    return fail_as_aborted();
  }
  if (largest_piece != nullptr) {
    largest_piece->begin({by, is_by_plan(by, call)}, call.buffers.bytes());
  }
  if (is_alone()) {
    copy(call.buffers);
    return {};
  }
  if (call.buffers.count == 0 && call.collective != Collective::barrier) {
    return {};
  }
  return outcome_of(run_in_manner(by, call, until));
}

// Ranks wait long for each other where there is a watch, and only neighbours notice that one is
// gone. So whoever gives up for that closes its connections, by which all others notice, too.
void Communicator::State::pass_on_loss(const Error& error) {
  if (watch && (watch->is_one_gone() || error.code == Error::Code::network)) {
    ring->shut_down();
  }
}

Result<void> Communicator::State::run_in_manner(By by, const Call& call,
                                                const host::Deadline& until) {
  return manner_of(call) == Manner::in_steps ? run_in_steps(by, call, until)
                                             : run_whole(by, call, until);
}

// Returns the outcome of a call whose deadline has passed before its turn. The collective before it
// is still the last one: others may need this rank for its result.
Result<void> Communicator::State::not_begun(std::string_view collective) {
  if (aborted) {
    return fail_as_aborted();
  }
  return fail(Error::Code::timeout, std::string(collective) +
                                        " was not begun by the deadline of its request: what was "
                                        "posted before it took until then");
}

Result<void> Communicator::State::run_whole(By by, const Call& call, const host::Deadline& until) {
  if (machine) {
    return machine->run(call, until);
  }
  return by == By::ring ? run_ring(call, until) : run_carrier(call, until);
}

Result<void> Communicator::State::run_in_steps(By by, const Call& call,
                                               const host::Deadline& until) {
  host::exact::Steps steps(call, options.rank, options.world_size, scratch);
  return carry_out(by, steps, until, Nesting::inner);
}

// A rank that fails in a step counts all the steps behind it, as do ranks that fail in the next
// one: so the next collective has the same number on all ranks, and nothing of this one passes for
// part of it. A step of a sketch that is a sum of floats may have steps itself; those have none.
Result<void> Communicator::State::carry_out(By by, host::Steps& steps, const host::Deadline& until,
                                            Nesting nesting) {
  const bool whole = nesting == Nesting::inner;
  Result<void> done;
  while (const auto step = steps.next()) {
    const auto step_by = step->by_ring ? By::ring : by;
    auto call = step->call;
    call.with_all |= !whole;
    if (!done || !step->needed) {
      whole ? skip_whole(step_by, call) : skip(step_by, call);
    } else if (done = whole ? run_whole(step_by, call, until) : run_in_manner(step_by, call, until);
               !done) {
      steps.give_up();
    }
  }
  return done ? steps.outcome() : done;
}

void Communicator::State::skip_all(By by, host::Steps& steps, Nesting nesting) {
  steps.give_up();
  while (const auto step = steps.next()) {
    const auto step_by = step->by_ring ? By::ring : by;
    auto call = step->call;
    call.with_all |= nesting == Nesting::outer;
    nesting == Nesting::inner ? skip_whole(step_by, call) : skip(step_by, call);
  }
}

// Counts a call that the others may have begun and this rank has not. Nobody begins a call without
// elements, but for a barrier.
void Communicator::State::skip(By by, const Call& refused) {
  if (is_alone()) {
    return;
  }
  const auto call = host::countable(refused);
  if (manner_of(call) != Manner::in_steps) {
    if (call.buffers.count != 0 || call.collective == Collective::barrier) {
      skip_whole(by, call);
    }
    return;
  }
  host::exact::Steps steps(call, options.rank, options.world_size, scratch);
  skip_all(by, steps, Nesting::inner);
}

void Communicator::State::skip_whole(By by, const Call& call) {
  if (machine) {
    auto until = host::deadline_of(options, host::Clock::now());
    until.obey(&aborted);
    machine->skip(call, until);
  } else if (by == By::ring) {
    ring->skip();
  } else {
    carrier->runner().skip(call);
  }
}

Result<void> Communicator::State::run_carrier(const Call& call, const host::Deadline& until) {
  last.carried = true;
  auto done = carrier->runner().run(call, until);
  if (const auto news = carrier->news()) {
    notify(host::LogLevel::warn, *news);
  }
  return done;
}

Result<void> Communicator::State::run_ring(const Call& call, const host::Deadline& until) {
  return carry_by_ring(call, until).map_error([this](const Error& error) {
    const bool broke = error.code == Error::Code::network && !aborted;
    return broke && carrier ? carrier->explain(error) : error;
  });
}

Result<void> Communicator::State::carry_by_ring(const Call& call, const host::Deadline& until) {
  switch (call.collective) {
    case Collective::allreduce:
      return ring->allreduce(call.buffers, until);
    case Collective::reduce:
      return ring->reduce(call.buffers, call.root, until);
    case Collective::broadcast:
      return ring->broadcast(call.buffers, call.root, until);
    case Collective::barrier:
      return ring->barrier(until);
    case Collective::reduce_scatter:
    case Collective::allgather:
      break;
  }
  return fail(Error::Code::internal, "the ring has no " + std::string(name(call.collective)));
}

}  // namespace tributary
