// SPDX-License-Identifier: BSD-3-Clause
#include "host/communicator_state.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <span>
#include <thread>
#include <type_traits>
#include <utility>

#include "host/call_check.h"
#include "host/journal/conclusion.h"
#include "host/journal/report.h"
#include "host/probe.h"
#include "host/ring/sparse_schedule.h"
#include "host/sketch/check.h"
#include "host/sketch/grid_steps.h"
#include "host/sketch/quantile_steps.h"
#include "host/text.h"

namespace tributary {
namespace {

using host::Buffers;
using host::By;
using host::Call;
using host::Clock;
using host::Collective;
using host::SparseBuffers;
using host::Time;
using host::exact::Manner;

// How long a destructor waits for the others', and how long it goes on answering when one of them
// is gone: as long as the longest pause between two requests of a worker.
constexpr auto finalize_timeout = std::chrono::seconds(2);
constexpr auto finalize_grace = std::chrono::milliseconds(500);
constexpr auto finalize_pause = std::chrono::milliseconds(10);

// A destructor throws nothing: out of on_notice, or because memory is full. Less is said then.
template <typename Run>
void quietly(Run run) {
  try {
    run();
  } catch (...) {
    return;
  }
}

constexpr auto aborted_text = "the communicator was aborted on this rank";

void copy(const Buffers& buffers) {
  if (buffers.in != buffers.out && buffers.count != 0) {
    std::memcpy(buffers.out, buffers.in, buffers.bytes());
  }
}

}  // namespace

Communicator::State::~State() {
  quietly([this] { report(); });
  quietly([this] { conclude(); });
  quietly([this] { finalize(); });
}

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

// Of a collective of that name, with so many bytes of this rank.
template <typename Run>
auto Communicator::State::recorded(std::string_view what, By by, std::size_t bytes, Run run) {
  const auto began = journal ? Clock::now() : Time{};
  auto done = run();
  if (journal) {
    const auto means = by == By::ring ? host::ring_algorithm : std::string_view(algorithm);
    journal->note({what, means, bytes, began, Clock::now(), !done});
  }
  return done;
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
    count(by, call, done.has_value());
  }
  return done;
}

void Communicator::State::count(By by, const Call& call, bool succeeded) {
  if (!succeeded) {
    ++failures;
    return;
  }
  ++(by == By::ring ? collectives_by_ring : collectives_by_carrier);
  if (by == By::ring && log_level == host::LogLevel::info) {
    ++reasons[why_by_ring(call)];
  }
}

std::string Communicator::State::why_by_ring(const Call& call) const {
  if (only_ring) {
    return fallback.empty() ? "as asked for" : fallback;
  }
  if (manner_of(call) == Manner::by_ring) {
    return "products of floats that are to be reproducible";
  }
  const auto what = host::needs_handler(call) ? "handlers" : std::string(name(call));
  return what + ", which " + algorithm + " does not carry here";
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
    return outcome_of<void>(fail(
        Error::Code::timeout, std::string(name(call)) +
                                  " was not begun by the deadline of its request: what was posted "
                                  "before it took until then"));
  }
  if (auto accepted = accept(by, call); !accepted) {
    skip(by, call);
    return accepted;
  }
  if (aborted) {
    return fail(Error::Code::aborted, aborted_text);
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

// Of a collective that has ended.
template <typename T>
Result<T> Communicator::State::outcome_of(Result<T> done) {
  failed = !done;
  if (failed && aborted) {
    return fail(Error::Code::aborted, aborted_text);
  }
  return done;
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
template <typename Steps>
Result<void> Communicator::State::carry_out(By by, Steps& steps, const host::Deadline& until) {
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

template <typename Steps>
void Communicator::State::skip_all(By by, Steps& steps) {
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

// The same on all ranks. Switches add sparse vectors in the order in which they come.
By Communicator::State::means_for_sparse() const {
  return only_ring || options.reproducible || !carrier->takes_sparse() ? By::ring : By::carrier;
}

Result<SparseElements> Communicator::State::run_sparse(const SparseBuffers& buffers) {
  if (auto checked = host::check(buffers); !checked) {
    refuse_sparse(buffers.count);
    return tl::make_unexpected(checked.error());
  }
  if (!ring) {
    return host::SparseSchedule(buffers, 0, 1).sum();
  }
  if (buffers.count == 0) {
    return SparseElements{0, buffers.type, {}, {}};
  }
  const auto by = means_for_sparse();
  const auto bytes =
      buffers.indices.size() * (wire::element_bytes(buffers.type) + sizeof buffers.indices[0]);
  auto sum = recorded("sparse_allreduce", by, bytes,
                      [&] { return outcome_of(run_sparse_by(by, buffers)); });
  const host::SparseCall sparse{buffers};
  Call call;
  call.sparse = &sparse;
  count(by, call, sum.has_value());
  return sum;
}

Result<SparseElements> Communicator::State::run_sparse_by(By by, const SparseBuffers& buffers) {
  if (by == By::ring) {
    return ring->sparse_allreduce(buffers, deadline());
  }
  SparseElements sum;
  const host::SparseCall sparse{buffers, &sum};
  Call call;
  call.sparse = &sparse;
  return run_carrier(call, deadline()).map([&sum] { return std::move(sum); });
}

// Not for an empty vector, with which the others have not called anything either.
void Communicator::State::refuse_sparse(std::size_t count) {
  if (!ring || count == 0) {
    return;
  }
  const host::SparseCall sparse{{{}, nullptr, count}};
  Call call;
  call.sparse = &sparse;
  skip_whole(means_for_sparse(), call);
}

Result<void> Communicator::State::run_sketched(const host::sketch::Vectors& vectors,
                                               GradientSketch& sketch) {
  const auto checked = host::sketch::check(vectors, sketch, options.world_size);
  const auto count = vectors.in.size();
  if (!carrier || count == 0) {
    if (checked) {
      std::copy_n(vectors.in.data(), count, vectors.out.data());
    }
    return checked;
  }
  const auto run = [&]<typename Steps>(std::type_identity<Steps>) {
    return run_sketched_in(Steps(vectors, sketch, options.rank, options.world_size, sketch_scratch),
                           count, checked);
  };
  return sketch.options().kind == SketchKind::grid
             ? run(std::type_identity<host::sketch::GridSteps>{})
             : run(std::type_identity<host::sketch::QuantileSteps>{});
}

// By what leaves nobody out: the bounds of a grid are those of all ranks, or it is none.
template <typename Steps>
Result<void> Communicator::State::run_sketched_in(Steps steps, std::size_t elements,
                                                  const Result<void>& checked) {
  const auto by = means_for_all();
  const auto bytes = steps.bytes();
  if (auto accepted = checked ? accept_bytes(by, bytes) : checked; !accepted) {
    skip_all(by, steps);
    return accepted;
  }
  if (aborted) {
    return fail(Error::Code::aborted, aborted_text);
  }
  auto done = recorded("sketched_allreduce", by, bytes,
                       [&] { return outcome_of(carry_out(by, steps, deadline())); });
  count(by, Call{}, done.has_value());
  if (done) {
    sketch_bytes += bytes;
    sketch_bytes_of_floats += elements * sizeof(float);
  }
  return done;
}

// Whoever set it up looks at what rank 0 says.
void Communicator::State::report() {
  if (!journal || !journal->has_report()) {
    return;
  }
  const auto lived = Clock::now() - created;
  const auto ranks = times_in_collectives();
  if (options.rank != 0) {
    return;
  }
  const auto carried = carrier ? carrier->statistics() : ProtocolStatistics{};
  const auto title =
      "communicator of " + std::to_string(options.world_size) + " ranks by " + algorithm;
  for (const auto& line : host::report_of(journal->tallies(), {title, lived, ranks, carried})) {
    tell(line);
  }
}

// On every rank that has somebody to tell.
void Communicator::State::conclude() {
  if (!selected || log_level != host::LogLevel::info || (!options.on_notice && options.rank != 0)) {
    return;
  }
  const auto carried = carrier->statistics();
  const auto title = "job " + std::to_string(job().id) + ", " + host::rank_text(options.rank) +
                     " of " + std::to_string(options.world_size);
  tell(host::conclusion_of({title, Clock::now() - created, algorithm, collectives_by_carrier,
                            collectives_by_ring, failures, reasons, carried}));
}

// Of each rank; nothing where they cannot be asked any more.
std::vector<host::Duration> Communicator::State::times_in_collectives() {
  if (!ring || failed) {
    return {};
  }
  std::vector<std::int64_t> times(options.world_size);
  times[options.rank] = journal->in_collectives().count();
  auto* const bytes = std::as_writable_bytes(std::span(times)).data();
  const Buffers buffers{bytes, bytes, times.size(), wire::ElementType::i64, wire::Operator::sum};
  if (!ring->allreduce(buffers, Clock::now() + finalize_timeout)) {
    return {};
  }
  std::vector<host::Duration> all;
  std::ranges::transform(times, std::back_inserter(all),
                         [](std::int64_t time) { return host::Duration(time); });
  return all;
}

// Whoever lost what this rank sent last would ask in vain once it is gone. So nobody goes before
// all have come here; the progress thread answers meanwhile. After an error there is nothing to
// wait for.
void Communicator::State::finalize() {
  if (!ring || only_ring || failed) {
    return;
  }
  const auto together = ring->barrier(Clock::now() + finalize_timeout);
  if (together) {
    return;
  }
  if (together.error().code != Error::Code::timeout) {
    if (carrier->runner().retaining()) {
      std::this_thread::sleep_for(finalize_grace);
    }
    return;
  }
  // What a device sends again may take seconds: it is patient.
  const auto until = patience();
  while (carrier->on_device() && carrier->runner().retaining() && Clock::now() < until) {
    std::this_thread::sleep_for(finalize_pause);
  }
}

}  // namespace tributary
