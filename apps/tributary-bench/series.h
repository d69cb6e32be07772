// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

namespace tributary::bench {

// A Series is the iterations of one placement. It is the same on every rank, but for when they
// began.
struct Series {
  std::vector<std::int64_t> times_ns;  // per timed iteration: of the slowest rank
  // Each iteration began then, on the monotonic clock of this rank's host.
  std::vector<std::int64_t> started_ns;
  std::uint64_t wrong = 0;    // elements, over all ranks and iterations
  double relative_error = 0;  // the greatest of an iteration, where results are sketches
  std::uint64_t digest = 0;   // of this rank's results, where they are sketches

  double mean_s() const;
  double median_s() const;
  double least_s() const;
  double most_s() const;
};

}  // namespace tributary::bench
