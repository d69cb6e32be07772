// SPDX-License-Identifier: BSD-3-Clause
#include "host/tuning/cost_table.h"

#include <algorithm>
#include <cassert>

namespace tributary::host::tuning {
namespace {

// Times are bounded by decades: a longer one has no place in a duration, and is no worse for
// whoever chooses.
constexpr double more_max = 1e18;

// Returns the time on the line through both, which does not fall.
Duration on_line(const CostTable::Measured& from, const CostTable::Measured& to,
                 std::size_t bytes) {
  const auto slope = static_cast<double>((to.time - from.time).count()) /
                     static_cast<double>(to.bytes - from.bytes);
  const auto more = std::max(slope, 0.0) * static_cast<double>(bytes - from.bytes);
  return from.time + Duration(static_cast<Duration::rep>(std::min(more, more_max)));
}

}  // namespace

void CostTable::add(Means means, std::size_t bytes, Duration time) {
  auto& of_means = measured_[static_cast<std::size_t>(means)];
  assert(of_means.empty() || of_means.back().bytes < bytes);
  of_means.push_back({bytes, time});
}

std::optional<Duration> CostTable::time(Means means, std::size_t bytes) const {
  const auto& known = measured(means);
  if (known.empty()) {
    return std::nullopt;
  }
  const auto next = std::ranges::lower_bound(known, bytes, {}, &Measured::bytes);
  if (next == known.begin() || (next != known.end() && next->bytes == bytes)) {
    return next->time;
  }
  if (next != known.end()) {
    return on_line(*(next - 1), *next, bytes);
  }
  return known.size() < 2 ? std::nullopt : std::optional(on_line(*(next - 2), *(next - 1), bytes));
}

std::size_t CostTable::largest(Means means) const {
  const auto& known = measured(means);
  return known.empty() ? 0 : known.back().bytes;
}

}  // namespace tributary::host::tuning
