// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "engine/counters.h"

namespace tributary::panama {

// Counts what was done for one tree since it was installed.
struct TreeCounters {
  std::uint64_t contributions = 0;  // taken
  std::uint64_t sums = 0;           // sent up, or complete at the root
  std::uint64_t results = 0;        // made at the root, or from above; they went down
  std::uint64_t congested = 0;      // of those, marked
  std::uint64_t partial = 0;        // sums without somebody
  std::uint64_t skipped = 0;        // VIDs that missed somebody when a later one was complete
  std::uint64_t replaced = 0;       // sums that waited here when one with more workers came
  std::uint64_t late = 0;           // contributions to what was complete without them
  std::uint64_t duplicates = 0;     // contributions and results that were here before
  std::uint64_t replays = 0;        // results sent again to who had lost them
  std::uint64_t answers = 0;    // results from below, that came again, or for who had asked alone
  std::uint64_t inquiries = 0;  // that came
  std::uint64_t inquiries_sent = 0;
  std::uint64_t resent = 0;    // sums sent up again
  std::uint64_t over_cap = 0;  // contributions beyond the tree's memory
  std::uint64_t left = 0;      // packets that waited for an epoch that was not begun
};
inline constexpr engine::Counter<TreeCounters> tree_counters[] = {
    {&TreeCounters::contributions, "contributions_total", true},
    {&TreeCounters::sums, "sums_total"},
    {&TreeCounters::partial, "partial_sums_total", true},
    {&TreeCounters::results, "results_total", true},
    {&TreeCounters::congested, "results_congested_total", true},
    {&TreeCounters::skipped, "skipped_total", true},
    {&TreeCounters::replaced, "replaced_total"},
    {&TreeCounters::late, "late_total", true},
    {&TreeCounters::duplicates, "duplicates_total", true},
    {&TreeCounters::replays, "replays_total", true},
    {&TreeCounters::answers, "answers_total"},
    {&TreeCounters::inquiries, "inquiries_total"},
    {&TreeCounters::inquiries_sent, "inquiries_sent_total"},
    {&TreeCounters::resent, "sums_resent_total"},
    {&TreeCounters::over_cap, "over_cap_total", true},
    {&TreeCounters::left, "left_total"},
};

}  // namespace tributary::panama
