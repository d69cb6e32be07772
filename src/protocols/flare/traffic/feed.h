// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "packet/pool.h"
#include "protocols/flare/traffic/sparse_plan.h"
#include "traffic/sink.h"
#include "traffic/stations.h"
#include "traffic/tree_places.h"

namespace tributary::flare {

// Aggregation that can be replayed for ever, for a switch that is the root: a file for each port,
// with as many frames in all. First the first blocks of all jobs, then the next of all, and so many
// of each job in a run. There are more runs than a switch remembers, so that the first is a new one
// when the files begin again.
inline constexpr std::uint32_t flare_runs_min = 10;
void feed_flare(const traffic::TreePlan& plan, const traffic::Stations& stations, PacketPool& pool,
                std::uint32_t runs, std::uint64_t blocks, const traffic::FileSink& sink);
// The same of sparse blocks.
void feed_flare_sparse(const traffic::TreePlan& plan, const SparsePlan& sparse,
                       const traffic::Stations& stations, PacketPool& pool, std::uint32_t runs,
                       std::uint64_t blocks, const traffic::FileSink& sink);

}  // namespace tributary::flare
