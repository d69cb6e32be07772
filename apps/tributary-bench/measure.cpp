// SPDX-License-Identifier: BSD-3-Clause
#include "measure.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <thread>
#include <utility>

#include "calls.h"
#include "host/protocol.h"
#include "placement.h"
#include "sketch_sample.h"

namespace tributary::bench {
namespace {

using Partial = std::vector<PartialResult>;

// Returns whether all ranks' results had the same bits.
Result<bool> are_alike(Communicator& communicator, std::uint64_t digest) {
  const auto own = static_cast<std::int64_t>(digest);
  std::int64_t greatest[2] = {own, ~own};  // the greatest complement is that of the least
  return communicator.ring_allreduce(std::span<std::int64_t>(greatest), wire::Operator::max)
      .map([&] { return greatest[0] == ~greatest[1]; });
}

// Takes the times of the slowest rank and the wrong elements of all ranks.
Result<void> agree(Communicator& communicator, const Options& options, Series& series) {
  if (auto done = communicator.ring_allreduce(std::span(series.times_ns), wire::Operator::max);
      !done) {
    return done;
  }
  std::int64_t wrong[1] = {static_cast<std::int64_t>(series.wrong)};
  auto done = communicator.ring_allreduce(std::span<std::int64_t>(wrong), wire::Operator::sum);
  series.wrong = static_cast<std::uint64_t>(wrong[0]);
  if (!done || !options.is_sketched()) {
    return done;
  }
  return are_alike(communicator, series.digest).map([&](bool alike) {
    series.wrong += alike ? 0 : 1;
  });
}

std::int64_t nanoseconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
}

Result<Series> run(const Task& task, bool in_place) {
  const auto& options = task.options;
  Placement placement(task, in_place);
  Series series;
  auto next = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < options.warmups + options.iterations; ++i) {
    placement.prepare(i);
    std::this_thread::sleep_until(next);
    next = std::chrono::steady_clock::now() + options.interval;
    if (auto ready = task.communicator.ring_barrier(); !ready) {
      return tl::unexpected(ready.error());
    }
    const auto start = std::chrono::steady_clock::now();
    auto done = call(task, placement);
    const auto time = std::chrono::steady_clock::now() - start;
    if (!done) {
      return tl::unexpected(done.error());
    }
    if (i >= options.warmups) {
      series.times_ns.push_back(nanoseconds(time));
      series.started_ns.push_back(nanoseconds(start.time_since_epoch()));
    }
    series.wrong += placement.wrong(i, task.communicator.partial_results().value_or(Partial{}));
    placement.look_at_sketch(i, series);
  }
  return series;
}

// Counts how often this rank leaves a barrier before a rank that comes late has come. No clocks
// need be compared: the late one comes `delay` after all have entered the ring's barrier.
Result<std::uint64_t> too_early(const Task& task) {
  auto& communicator = task.communicator;
  Placement placement(task, true);
  constexpr auto delay = std::chrono::milliseconds(20);
  constexpr std::uint32_t late_max = 8;
  std::uint64_t wrong = 0;
  for (std::uint32_t late = 0; late < std::min(communicator.world_size(), late_max); ++late) {
    const auto start = std::chrono::steady_clock::now();
    if (auto ready = communicator.ring_barrier(); !ready) {
      return tl::unexpected(ready.error());
    }
    if (communicator.rank() == late) {
      std::this_thread::sleep_for(delay);
    }
    if (auto done = call(task, placement); !done) {
      return tl::unexpected(done.error());
    }
    wrong += std::chrono::steady_clock::now() - start < delay ? 1 : 0;
  }
  return wrong;
}

// Returns the communicator that calls go by, if that is one: null for machines where there is only
// one.
const Communicator* communicator_of(const Task& task) {
  return task.way.parallel != nullptr ? task.way.parallel->between_machines() : &task.communicator;
}

const std::string& asked_of(const Task& task) {
  return task.way.parallel != nullptr ? task.options.between : task.way.algorithm;
}

std::uint64_t by_ring(const Task& task) {
  const auto* const by = communicator_of(task);
  return by == nullptr ? 0 : by->statistics()["collectives_by_ring"];
}

// Returns what carried the calls of a way since `by_ring_before` collectives had gone by the ring,
// which a communicator may take for some collectives only.
std::string carrier_of(const Task& task, std::uint64_t by_ring_before) {
  const auto& options = task.options;
  const auto* const by = communicator_of(task);
  const auto& asked = asked_of(task);
  const bool alone = by == nullptr || by->world_size() == 1;
  // A sparse or sketched allreduce has no call that names the ring, and goes as the communicator
  // has it.
  const bool names_ring =
      asked == host::ring_algorithm && !options.is_sparse() && !options.is_sketched();
  if (names_ring || by == nullptr || (alone && asked != host::automatic_algorithm)) {
    return asked;
  }
  return by_ring(task) != by_ring_before ? std::string(host::ring_algorithm) : by->algorithm();
}

// The label is one word, so that columns stay what they are.
std::string label_of(const Way& way, const std::string& asked, const std::string& carrier) {
  if (asked == host::automatic_algorithm && way.parallel == nullptr) {
    return carrier;
  }
  const std::string label(way.name());
  const bool as_asked = asked == host::automatic_algorithm || asked == carrier;
  return as_asked ? label : label + "(" + carrier + ")";
}

}  // namespace

Result<Row> measure(const Task& task) {
  const auto& [communicator, options, way, problem, sample] = task;
  Row row{"", problem.type, problem.op, problem.count, options.root, {}, {}};
  const auto by_ring_before = by_ring(task);
  for (const bool in_place : {false, true}) {
    if (!in_place && !options.has_out_of_place()) {
      continue;
    }
    auto series = run(task, in_place);
    if (series && options.check && options.collective == Collective::barrier) {
      const auto early = too_early(task);
      if (!early) {
        return tl::unexpected(early.error());
      }
      series->wrong = *early;
    }
    if (!series) {
      return tl::unexpected(series.error());
    }
    if (auto agreed = agree(communicator, options, *series); !agreed) {
      return tl::unexpected(agreed.error());
    }
    (in_place ? row.in_place : row.out_of_place) = std::move(*series);
  }
  row.algorithm = label_of(way, asked_of(task), carrier_of(task, by_ring_before));
  return row;
}

std::unique_ptr<Sample> sample_of(const Options& options, const Problem& problem) {
  if (options.is_sketched()) {
    const auto matrix = options.matrix_of(problem.count);
    return !options.check ? nullptr
           : matrix ? make_matrix_sample(problem, *matrix, matrix_slack(options.sketch, problem))
                    : make_sketch_sample(problem, sketch_slack(options.sketch, problem));
  }
  const bool has_input = options.check || options.is_sparse();
  if (!has_input || options.collective == Collective::barrier) {
    return nullptr;
  }
  Problem known = problem;
  known.rank = options.collective == Collective::broadcast ? options.root : problem.rank;
  return Sample::make(known);
}

Result<Totals> totals_of(Communicator& communicator) {
  auto own = communicator.statistics();
  auto sums = numbers_of(own, Merge::sum);
  auto least = numbers_of(own, Merge::least);
  return communicator.ring_allreduce(std::span(sums), wire::Operator::sum)
      .and_then([&] { return communicator.ring_allreduce(std::span(least), wire::Operator::min); })
      .map([&] { return totals_of(std::move(own), sums, least); });
}

}  // namespace tributary::bench
