// SPDX-License-Identifier: BSD-3-Clause
#include "host/communicator_state.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "host/call_check.h"
#include "host/probe.h"

namespace tributary {
namespace {

using host::Buffers;
using host::By;
using host::Call;
using host::Collective;
using host::Time;
using host::exact::Manner;

void copy(const Buffers& buffers) {
  if (buffers.in != buffers.out && buffers.count != 0) {
    std::memcpy(buffers.out, buffers.in, buffers.bytes());
  }
}

}  // namespace

Result<void> Communicator::State::select(Time until) {
  const bool hosts_alone = host::are_hosts_alone(options.algorithm);
  if (options.algorithm != host::ring_algorithm) {
    if (auto attending = carrier->attend(); !attending) {
      return attending;
    }
  }
  const auto choice =
      hosts_alone ? host::choose_ring(options, job().id) : carrier->find_out(*ring, until);
  if (!choice) {
    return tl::make_unexpected(choice.error());
  }
  algorithm = choice->algorithm;
  only_ring = algorithm == host::ring_algorithm;
  if (options.fallback == Fallback::error) {
    carrier->require_switches();
  }
  selected = true;
  fallback = choice->fallback;
  notify(fallback.empty() ? host::LogLevel::notice : host::LogLevel::warn,
         choice->notice + (options.reproducible ? "; sums are reproducible" : ""));
  return {};
}

void Communicator::State::notify(host::LogLevel level, const std::string& line) const {
  if (level <= log_level) {
    tell(line);
  }
}

void Communicator::State::tell(const std::string& line) const {
  if (options.on_notice) {
    options.on_notice(line);
  } else if (options.rank == 0) {
    std::fprintf(stderr, "tributary: %s\n", line.c_str());
  }
}

Result<void> Communicator::State::run_recorded(By by, const Call& call) {
  const auto& [in, out, count, type, op] = call.buffers;
  const bool sound = wire::is_valid(type, op) && count <= host::elements_max;  // is looked at later
  return recorded(name(call), by, sound ? call.buffers.bytes() : 0,
                  [&] { return run_by(by, call); });
}

Result<void> Communicator::State::run(const Call& call) {
  return run_counted(means_for(call), call);
}

Result<void> Communicator::State::run_counted(By by, const Call& call) {
  auto done = run_recorded(by, call);
  if (carrier) {
    const bool needs_order = manner_of(call) == Manner::by_ring;
    const auto what = needs_order                 ? "products of floats that are to be reproducible"
                      : host::needs_handler(call) ? "handlers"
                                                  : name(call);
    count(by, what, done.has_value());
  }
  return done;
}

// `what`: of those that may be left to the ring.
void Communicator::State::count(By by, std::string_view what, bool succeeded) {
  if (!succeeded) {
    ++failures;
    return;
  }
  ++(by == By::ring ? collectives_by_ring : collectives_by_carrier);
  if (by == By::ring && log_level == host::LogLevel::info) {
    ++reasons[why_by_ring(what)];
  }
}

std::string Communicator::State::why_by_ring(std::string_view what) const {
  if (only_ring) {
    return fallback.empty() ? "as asked for" : fallback;
  }
  return std::string(what) + ", which " + algorithm + " does not carry here";
}

Figures Communicator::State::general_figures() const {
  std::vector<Figure> figures;
  for (const auto& one : host::algorithms()) {
    std::string by(one.name);
    std::replace(by.begin(), by.end(), '-', '_');
    const auto count = one.name == host::ring_algorithm ? collectives_by_ring
                       : one.name == algorithm          ? collectives_by_carrier
                                                        : 0;
    figures.push_back({"collectives_by_" + by, count});
  }
  figures.push_back({"sketch_bytes", sketch_bytes});
  figures.push_back({"sketch_bytes_of_floats", sketch_bytes_of_floats});
  return Figures(std::move(figures));
}

By Communicator::State::means_for(const Call& call) const {
  const bool needs_ring = manner_of(call) == Manner::by_ring;
  return only_ring || needs_ring || !carrier->takes(call) ? By::ring : By::carrier;
}

// What carries a barrier leaves nobody out.
By Communicator::State::means_for_all() const {
  return means_for(Call{Collective::barrier, {}, 0});
}

Manner Communicator::State::manner_of(const Call& call) const {
  return options.reproducible ? host::exact::manner_of(call) : Manner::as_it_is;
}

Result<void> Communicator::State::accept(By by, const Call& call) const {
  if (auto checked = host::check(call, options); !checked) {
    return checked;
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
  if (!carrier) {
    copy(call.buffers);
    return {};
  }
  if (call.buffers.count == 0 && call.collective != Collective::barrier) {
    return {};
  }
  const auto until = deadline();
  return outcome_of(manner_of(call) == Manner::in_steps ? run_in_steps(by, call, until)
                                                        : run_whole(by, call, until));
}

// As it ends whose deadline has passed before its turn.
Result<void> Communicator::State::not_begun(std::string_view collective) {
  return outcome_of<void>(
      fail(Error::Code::timeout, std::string(collective) +
                                     " was not begun by the deadline of its request: what was "
                                     "posted before it took until then"));
}

Result<void> Communicator::State::run_whole(By by, const Call& call, const host::Deadline& until) {
  return by == By::ring ? run_ring(call, until) : run_carrier(call, until);
}

Result<void> Communicator::State::run_in_steps(By by, const Call& call,
                                               const host::Deadline& until) {
  host::exact::Steps steps(call, options.rank, options.world_size, scratch);
  return carry_out(by, steps, until);
}

// A rank that fails in a step counts all the others, as do those that fail in the next one: so the
// next collective has the same number on all ranks, and nothing of this one passes for part of it.
Result<void> Communicator::State::carry_out(By by, host::Steps& steps,
                                            const host::Deadline& until) {
  Result<void> done;
  while (const auto step = steps.next()) {
    const auto step_by = step->by_ring ? By::ring : by;
    if (!done || !step->needed) {
      skip_whole(step_by, step->call);
    } else if (done = run_whole(step_by, step->call, until); !done) {
      steps.give_up();
    }
  }
  return done;
}

void Communicator::State::skip_all(By by, host::Steps& steps) {
  steps.give_up();
  while (const auto step = steps.next()) {
    skip_whole(step->by_ring ? By::ring : by, step->call);
  }
}

// What the others may have begun, and this rank has not. A call without elements nobody begins, but
// for a barrier.
void Communicator::State::skip(By by, const Call& call) {
  if (!carrier) {
    return;
  }
  if (manner_of(call) != Manner::in_steps) {
    if (call.buffers.count != 0 || call.collective == Collective::barrier) {
      skip_whole(by, call);
    }
    return;
  }
  if (call.buffers.count > host::elements_max) {
    return;  // the others have refused that as well
  }
  host::exact::Steps steps(call, options.rank, options.world_size, scratch);
  skip_all(by, steps);
}

void Communicator::State::skip_whole(By by, const Call& call) {
  if (by == By::ring) {
    ring->skip();
  } else {
    carrier->runner().skip(call);
  }
}

Result<void> Communicator::State::run_carrier(const Call& call, const host::Deadline& until) {
  auto done = carrier->runner().run(call, until);
  if (const auto news = carrier->news()) {
    notify(host::LogLevel::warn, *news);
  }
  return done;
}

Result<void> Communicator::State::run_ring(const Call& call, const host::Deadline& until) {
  switch (call.collective) {
    case Collective::allreduce:
      return ring->allreduce(call.buffers, until);
    case Collective::reduce:
      return ring->reduce(call.buffers, call.root, until);
    case Collective::broadcast:
      return ring->broadcast(call.buffers, call.root, until);
    case Collective::barrier:
      break;
  }
  return ring->barrier(until);
}

}  // namespace tributary
