// SPDX-License-Identifier: BSD-3-Clause
#include "series.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace tributary::bench {

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

}  // namespace tributary::bench
