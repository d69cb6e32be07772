// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/communicator.h"
#include "host/parallel/parallel_communicator.h"
#include "options.h"
#include "sample.h"
#include "totals.h"

namespace tributary::bench {

// Iterations of one placement. The same on every rank, but for when they began.
struct Series {
  std::vector<std::int64_t> times_ns;  // per timed iteration: of the slowest rank
  // When each began, on the monotonic clock of this rank's host.
  std::vector<std::int64_t> started_ns;
  std::uint64_t wrong = 0;    // elements, over all ranks and iterations
  double relative_error = 0;  // the greatest of an iteration, where results are sketches
  std::uint64_t digest = 0;   // of this rank's results, likewise

  double mean_s() const;
  double median_s() const;
  double least_s() const;
  double most_s() const;
};

// By what a row is measured: an algorithm of the communicator, or a hierarchy beside it.
struct Way {
  std::string algorithm;
  ParallelCommunicator* parallel = nullptr;

  std::string_view name() const {
    return parallel != nullptr ? tributary::name(parallel->hierarchy()) : algorithm;
  }
};

struct Row {
  std::string algorithm;  // in brackets behind it what has carried it, where that is another
  wire::ElementType type = wire::ElementType::f32;
  wire::Operator op = wire::Operator::sum;
  std::size_t count = 0;
  std::uint32_t root = 0;
  Series out_of_place;  // empty where there is no such thing
  Series in_place;

  std::uint64_t wrong() const { return out_of_place.wrong + in_place.wrong; }
  std::size_t bytes() const { return count * wire::element_bytes(type); }
};

// Runs one row on this rank, together with all others. `sample` as sample_of() makes it.
Result<Row> measure(Communicator& communicator, const Options& options, const Way& way,
                    const Problem& problem, const Sample* sample);

// What is verified; null if nothing is, but for a sparse allreduce, where it says which elements
// there are. The ranks of a broadcast all know what its root has.
std::unique_ptr<Sample> sample_of(const Options& options, const Problem& problem);

Result<Totals> totals_of(Communicator& communicator);

}  // namespace tributary::bench
