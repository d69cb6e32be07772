// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/statistics.h"

namespace tributary::bench {

// Totals are what the figures of all ranks' communicators make together, and what that of this rank
// tells of what carried it.
struct Totals {
  Figures all_ranks;
  ProtocolStatistics own;
};

// Returns the numbers that are put together over ranks like that, in the same order on all of them.
std::vector<std::int64_t> numbers_of(const CommunicatorStatistics& of, Merge merge);
// `sums` and `least` are what the ranks' numbers of Merge::sum and Merge::least make together.
Totals totals_of(CommunicatorStatistics own, std::span<const std::int64_t> sums,
                 std::span<const std::int64_t> least);

// Returns lines for people, without what is 0.
std::vector<std::string> lines_of(const Totals& totals);

}  // namespace tributary::bench
