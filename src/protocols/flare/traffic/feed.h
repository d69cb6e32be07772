// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "protocols/flare/traffic/sparse_plan.h"
#include "traffic/feed.h"
#include "traffic/tree_places.h"

namespace tributary::flare {

// Feeds aggregation that can be replayed for ever, for a switch that is the root: a file for each
// port, with as many frames in all (those of a core, if it has several). The first blocks of all
// jobs come first, then the next of all. There are more runs than a switch remembers, so that the
// first is a new one when the files begin again.
inline constexpr std::uint32_t flare_runs_min = 10;
struct FlareSeries {
  std::uint32_t runs = flare_runs_min;
  std::uint32_t blocks = 32;  // of each job in each run
  // The switch has so many cores, with a file at each port for each, which has blocks that the core
  // owns: in every run as many as end with a burst of what a core takes at once; the others are
  // left out.
  unsigned cores = 1;
};
void feed_flare(const traffic::TreePlan& plan, const FlareSeries& series,
                const traffic::Feed& feed);
// Feeds the same of sparse blocks.
void feed_flare_sparse(const traffic::TreePlan& plan, const SparsePlan& sparse,
                       const FlareSeries& series, const traffic::Feed& feed);

}  // namespace tributary::flare
