// SPDX-License-Identifier: BSD-3-Clause
#include "measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>
#include <thread>
#include <utility>

#include "host/protocol.h"
#include "sketch_sample.h"
#include "wire/crc32.h"

namespace tributary::bench {
namespace {

// Storage whose first used byte misses cache-line alignment by a given number of bytes.
class Buffer {
 public:
  Buffer(std::size_t bytes, std::size_t misalignment) : storage_(bytes + 64 + misalignment) {
    const auto address = reinterpret_cast<std::uintptr_t>(storage_.data());
    offset_ = (64 - address % 64) % 64 + misalignment;
  }
  std::byte* data() { return storage_.data() + offset_; }

 private:
  std::vector<std::byte> storage_;
  std::size_t offset_ = 0;
};

// What a sparse allreduce takes of a dense vector, and what it returned.
struct Sparse {
  std::vector<std::uint32_t> indices;
  std::vector<std::byte> values;
  SparseElements sum;

  void take(const std::byte* elements, std::size_t count, std::size_t element_bytes) {
    indices.clear();
    values.clear();
    for (std::size_t i = 0; i < count; ++i, elements += element_bytes) {
      const auto* const end = elements + element_bytes;
      if (std::any_of(elements, end, [](std::byte byte) { return byte != std::byte{0}; })) {
        indices.push_back(static_cast<std::uint32_t>(i));
        values.insert(values.end(), elements, end);
      }
    }
  }
};

// One rank's arguments of one collective.
struct Arguments {
  const Options& options;
  const Problem& problem;
  const Way& way;
  const void* in;
  void* out;
  Sparse* sparse;          // of a sparse allreduce
  GradientSketch* sketch;  // of a sketched one
};

// By what the communicator has for it, whatever the way.
Result<void> call_sparse(Communicator& communicator, const Arguments& with) {
  auto& sparse = *with.sparse;
  return communicator
      .sparse_allreduce(sparse.indices, sparse.values.data(), with.problem.count, with.problem.type,
                        with.problem.op)
      .map([&sparse](SparseElements sum) { sparse.sum = std::move(sum); });
}

// Likewise.
Result<void> call_sketched(Communicator& communicator, const Arguments& with) {
  const auto count = with.problem.count;
  const std::span in(static_cast<const float*>(with.in), count);
  return communicator.sketched_allreduce(in, {static_cast<float*>(with.out), count}, *with.sketch);
}

Result<void> call_ring(Communicator& communicator, const Arguments& with) {
  const auto& [type, op, count, rank, world_size, density, packet_elements] = with.problem;
  switch (with.options.collective) {
    case Collective::allreduce:
      return communicator.ring_allreduce(with.in, with.out, count, type, op);
    case Collective::reduce:
      return communicator.ring_reduce(with.in, with.out, count, type, op, with.options.root);
    case Collective::broadcast:
      return communicator.ring_broadcast(with.out, count, type, with.options.root);
    case Collective::sparse_allreduce:
      return call_sparse(communicator, with);
    case Collective::sketched_allreduce:
      return call_sketched(communicator, with);
    case Collective::barrier:
      break;
  }
  return communicator.ring_barrier();
}

Result<void> call(Communicator& communicator, const Arguments& with) {
  const auto& [type, op, count, rank, world_size, density, packet_elements] = with.problem;
  if (with.way.parallel != nullptr) {
    return with.way.parallel->allreduce(with.in, with.out, count, type, op);
  }
  if (with.way.algorithm == host::ring_algorithm) {
    return call_ring(communicator, with);
  }
  switch (with.options.collective) {
    case Collective::allreduce:
      return communicator.allreduce(with.in, with.out, count, type, op);
    case Collective::reduce:
      return communicator.reduce(with.in, with.out, count, type, op, with.options.root);
    case Collective::broadcast:
      return communicator.broadcast(with.out, count, type, with.options.root);
    case Collective::sparse_allreduce:
      return call_sparse(communicator, with);
    case Collective::sketched_allreduce:
      return call_sketched(communicator, with);
    case Collective::barrier:
      break;
  }
  return communicator.barrier();
}

// Whether all ranks' results had the same bits.
Result<bool> are_alike(Communicator& communicator, std::uint64_t digest) {
  const auto own = static_cast<std::int64_t>(digest);
  std::int64_t greatest[2] = {own, ~own};  // of the complement it is the least
  return communicator.ring_allreduce(std::span<std::int64_t>(greatest), wire::Operator::max)
      .map([&] { return greatest[0] == ~greatest[1]; });
}

// The times of the slowest rank and the wrong elements of all.
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

constexpr int untouched = 0xa5;

// One placement of one rank: its buffers, and what is to be in them.
class Placement {
 public:
  Placement(const Options& options, const Problem& problem, const Sample* sample, bool in_place)
      : options_(options),
        sample_(sample),
        count_(problem.count),
        element_bytes_(wire::element_bytes(problem.type)),
        bytes_(count_ * element_bytes_),
        in_place_(in_place),
        is_root_(problem.rank == options.root),
        input_(bytes_, options.misalignment),
        output_(in_place ? 0 : bytes_, options.misalignment) {}

  std::byte* in() { return input_.data(); }
  std::byte* out() { return in_place_ ? input_.data() : output_.data(); }
  Sparse* sparse() { return options_.is_sparse() ? &sparse_ : nullptr; }

  void prepare(std::size_t iteration) {
    if (sample_ == nullptr || bytes_ == 0) {
      return;
    }
    std::memset(out(), untouched, bytes_);
    if (options_.collective != Collective::broadcast || is_root_) {
      sample_->fill(iteration, in());
    }
    if (options_.is_sparse()) {
      sparse_.take(in(), count_, element_bytes_);
    }
  }
  // What there is to see of results that are not exact.
  void look_at_sketch(std::size_t iteration, Series& series) {
    if (sample_ == nullptr || !options_.check || !options_.is_sketched()) {
      return;
    }
    series.relative_error =
        std::max(series.relative_error, sample_->relative_error(iteration, out()));
    const auto crc = wire::crc32(0, {out(), bytes_});
    series.digest = series.digest * 0x9e3779b97f4a7c15u + crc;
  }
  std::uint64_t wrong(std::size_t iteration) {
    if (sample_ == nullptr || !options_.check) {
      return 0;
    }
    if (options_.is_sparse()) {
      sparse_.sum.expand(out());
      return sample_->wrong_results(iteration, out());
    }
    if (options_.collective == Collective::broadcast) {
      return sample_->wrong_inputs(iteration, out());
    }
    const bool has_result = options_.collective != Collective::reduce || is_root_;
    const bool keeps_input = !in_place_ || !has_result;
    return (has_result ? sample_->wrong_results(iteration, out()) : wrongly_touched()) +
           (keeps_input ? sample_->wrong_inputs(iteration, in()) : 0);
  }

 private:
  // Bytes of the output of a rank to which nothing is to be written.
  std::uint64_t wrongly_touched() {
    if (in_place_) {
      return 0;
    }
    const auto same = std::count(out(), out() + bytes_, static_cast<std::byte>(untouched));
    return bytes_ - static_cast<std::size_t>(same);
  }

  const Options& options_;
  const Sample* sample_;
  std::size_t count_;
  std::size_t element_bytes_;
  std::size_t bytes_;
  bool in_place_;
  bool is_root_;
  Buffer input_;
  Buffer output_;
  Sparse sparse_;
};

std::int64_t nanoseconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
}

Result<Series> run(Communicator& communicator, const Options& options, const Way& way,
                   const Problem& problem, const Sample* sample, bool in_place) {
  Placement placement(options, problem, sample, in_place);
  GradientSketch sketch(options.is_sketched() ? problem.count : 0, options.sketch);
  const Arguments arguments{
      options, problem, way, placement.in(), placement.out(), placement.sparse(), &sketch};
  Series series;
  auto next = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < options.warmups + options.iterations; ++i) {
    placement.prepare(i);
    std::this_thread::sleep_until(next);
    next = std::max(next + options.interval, std::chrono::steady_clock::now());
    if (auto ready = communicator.ring_barrier(); !ready) {
      return tl::unexpected(ready.error());
    }
    const auto start = std::chrono::steady_clock::now();
    auto done = call(communicator, arguments);
    const auto time = std::chrono::steady_clock::now() - start;
    if (!done) {
      return tl::unexpected(done.error());
    }
    if (i >= options.warmups) {
      series.times_ns.push_back(nanoseconds(time));
      series.started_ns.push_back(nanoseconds(start.time_since_epoch()));
    }
    series.wrong += placement.wrong(i);
    placement.look_at_sketch(i, series);
  }
  return series;
}

// Of a barrier: whether this rank leaves before one that comes late has come. No clock need be
// compared: the late one comes `delay` after all have entered the ring's barrier.
Result<std::uint64_t> too_early(Communicator& communicator, const Arguments& with) {
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
    if (auto done = call(communicator, with); !done) {
      return tl::unexpected(done.error());
    }
    wrong += std::chrono::steady_clock::now() - start < delay ? 1 : 0;
  }
  return wrong;
}

const std::string& asked_of(const Way& way, const Options& options) {
  return way.parallel != nullptr ? options.between : way.algorithm;
}

std::uint64_t by_ring(const Communicator& communicator) {
  return communicator.statistics()["collectives_by_ring"];
}

// By what the calls of a way went since so many had gone by the ring: a communicator may take that
// for some collectives only.
std::string carrier_of(const Communicator& communicator, std::uint64_t by_ring_before,
                       const Way& way, const Options& options) {
  const auto* const by = way.parallel != nullptr ? way.parallel->between_machines() : &communicator;
  const auto& asked = asked_of(way, options);
  const bool alone = by == nullptr || by->world_size() == 1;
  // A sparse or sketched allreduce has no call that names the ring, and goes as the communicator
  // has it.
  const bool names_ring =
      asked == host::ring_algorithm && !options.is_sparse() && !options.is_sketched();
  if (names_ring || (alone && asked != host::automatic_algorithm)) {
    return asked;
  }
  return by_ring(communicator) != by_ring_before ? std::string(host::ring_algorithm)
                                                 : by->algorithm();
}

// One word, so that columns stay what they are.
std::string label_of(const Way& way, const std::string& asked, const std::string& carrier) {
  if (asked == host::automatic_algorithm && way.parallel == nullptr) {
    return carrier;
  }
  const std::string label(way.name());
  const bool as_asked = asked == host::automatic_algorithm || asked == carrier;
  return as_asked ? label : label + "(" + carrier + ")";
}

// How far a sketch of a rank may be from its vector, of which all elements are between -1 and 1. A
// bucket of quantiles may be as wide as that.
double sketch_slack(const SketchOptions& sketch, const Problem& problem) {
  constexpr double rounding_of_floats = 1e-5;
  if (sketch.kind == SketchKind::quantiles) {
    return 2 + rounding_of_floats;
  }
  const double levels =
      std::floor((std::exp2(sketch.bits - 1) - 1) / static_cast<double>(problem.world_size));
  const double units = sketch.rounding == Rounding::nearest ? 0.5 : 1;
  return units / levels + rounding_of_floats;
}

}  // namespace

double Series::mean_s() const {
  const double sum = std::accumulate(times_ns.begin(), times_ns.end(), 0.0);
  return sum / static_cast<double>(times_ns.size()) * 1e-9;
}

double Series::median_s() const {
  std::vector<std::int64_t> sorted = times_ns;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t n = sorted.size();
  return static_cast<double>(sorted[(n - 1) / 2] + sorted[n / 2]) / 2 * 1e-9;
}

double Series::least_s() const {
  return static_cast<double>(*std::min_element(times_ns.begin(), times_ns.end())) * 1e-9;
}

double Series::most_s() const {
  return static_cast<double>(*std::max_element(times_ns.begin(), times_ns.end())) * 1e-9;
}

Result<Row> measure(Communicator& communicator, const Options& options, const Way& way,
                    const Problem& problem, const Sample* sample) {
  Row row{"", problem.type, problem.op, problem.count, options.root, {}, {}};
  const auto by_ring_before = by_ring(communicator);
  for (const bool in_place : {false, true}) {
    if (!in_place && !options.has_out_of_place()) {
      continue;
    }
    auto series = run(communicator, options, way, problem, sample, in_place);
    if (series && options.check && options.collective == Collective::barrier) {
      const auto early =
          too_early(communicator, {options, problem, way, nullptr, nullptr, nullptr, nullptr});
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
  row.algorithm =
      label_of(way, asked_of(way, options), carrier_of(communicator, by_ring_before, way, options));
  return row;
}

std::unique_ptr<Sample> sample_of(const Options& options, const Problem& problem) {
  if (options.is_sketched()) {
    return options.check ? make_sketch_sample(problem, sketch_slack(options.sketch, problem))
                         : nullptr;
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
  auto sums = addends_of(own);
  return communicator.ring_allreduce(std::span(sums), wire::Operator::sum).map([&] {
    return totals_of(std::move(own), sums);
  });
}

}  // namespace tributary::bench
