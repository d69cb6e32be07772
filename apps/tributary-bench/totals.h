// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/statistics.h"

namespace tributary::bench {

// Totals are what the communicators of all ranks counted together, and what that of this rank tells
// of what carried it.
struct Totals {
  Figures all_ranks;
  ProtocolStatistics own;
};

// Returns the counters that add up over ranks, in the same order on all of them.
std::vector<std::int64_t> addends_of(const CommunicatorStatistics& of);
// Precondition: there are as many `sums` as addends of `own`.
Totals totals_of(CommunicatorStatistics own, std::span<const std::int64_t> sums);

// Returns lines for people, without what is 0.
std::vector<std::string> lines_of(const Totals& totals);

}  // namespace tributary::bench
