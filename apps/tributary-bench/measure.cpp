// SPDX-License-Identifier: BSD-3-Clause
#include "measure.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <span>

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

Result<void> reduce(Communicator& communicator, Algorithm algorithm, const Problem& problem,
                    const void* in, void* out) {
  return algorithm == Algorithm::canary
             ? communicator.allreduce(in, out, problem.count, problem.type, problem.op)
             : communicator.ring_allreduce(in, out, problem.count, problem.type, problem.op);
}

// The times of the slowest rank and the wrong elements of all.
Result<void> agree(Communicator& communicator, Series& series) {
  if (auto done = communicator.ring_allreduce(std::span(series.times_ns), wire::Operator::max);
      !done) {
    return done;
  }
  std::int64_t wrong[1] = {static_cast<std::int64_t>(series.wrong)};
  auto done = communicator.ring_allreduce(std::span<std::int64_t>(wrong), wire::Operator::sum);
  series.wrong = static_cast<std::uint64_t>(wrong[0]);
  return done;
}

Result<Series> run(Communicator& communicator, const Options& options, Algorithm algorithm,
                   const Problem& problem, const Sample* sample, bool in_place) {
  const std::size_t bytes = problem.count * wire::element_bytes(problem.type);
  Buffer input(bytes, options.misalignment);
  Buffer output(in_place ? 0 : bytes, options.misalignment);
  std::byte* result = in_place ? input.data() : output.data();
  Series series;
  for (std::size_t i = 0; i < options.warmups + options.iterations; ++i) {
    if (sample != nullptr) {
      sample->fill(i, input.data());
      if (!in_place && bytes > 0) {
        std::memset(result, 0xa5, bytes);
      }
    }
    if (auto ready = communicator.barrier(); !ready) {
      return tl::unexpected(ready.error());
    }
    const auto start = std::chrono::steady_clock::now();
    auto done = reduce(communicator, algorithm, problem, input.data(), result);
    const auto time = std::chrono::steady_clock::now() - start;
    if (!done) {
      return tl::unexpected(done.error());
    }
    if (i >= options.warmups) {
      series.times_ns.push_back(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
    }
    if (sample != nullptr) {
      series.wrong += sample->wrong_results(i, result);
      series.wrong += in_place ? 0 : sample->wrong_inputs(i, input.data());
    }
  }
  if (auto agreed = agree(communicator, series); !agreed) {
    return tl::unexpected(agreed.error());
  }
  return series;
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

Result<Row> measure(Communicator& communicator, const Options& options, Algorithm algorithm,
                    const Problem& problem, const Sample* sample) {
  Row row{algorithm, problem.type, problem.op, problem.count, {}, {}};
  for (const bool in_place : {false, true}) {
    auto series = run(communicator, options, algorithm, problem, sample, in_place);
    if (!series) {
      return tl::unexpected(series.error());
    }
    (in_place ? row.in_place : row.out_of_place) = std::move(*series);
  }
  return row;
}

}  // namespace tributary::bench
