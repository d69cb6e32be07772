// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/communicator.h"
#include "options.h"
#include "sample.h"

namespace tributary::bench {

// Iterations of one placement. The same on every rank.
struct Series {
  std::vector<std::int64_t> times_ns;  // per timed iteration: of the slowest rank
  std::uint64_t wrong = 0;             // elements, over all ranks and iterations

  double mean_s() const;
  double median_s() const;
};

struct Row {
  Algorithm algorithm = Algorithm::canary;
  wire::ElementType type = wire::ElementType::f32;
  wire::Operator op = wire::Operator::sum;
  std::size_t count = 0;
  Series out_of_place;
  Series in_place;

  std::size_t bytes() const { return count * wire::element_bytes(type); }
};

// Runs one row on this rank, together with all others.
Result<Row> measure(Communicator& communicator, const Options& options, Algorithm algorithm,
                    const Problem& problem, const Sample* sample);

}  // namespace tributary::bench
