// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "engine/figures.h"

namespace tributary::flare {

// Counts what was done for one tree since it was installed.
struct TreeCounters {
  std::uint64_t contributions = 0;
  std::uint64_t sums = 0;
  std::uint64_t results = 0;
  std::uint64_t answers = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t stale = 0;
  std::uint64_t replays = 0;
  std::uint64_t inquiries = 0;
  std::uint64_t inquiries_sent = 0;
  std::uint64_t refusals = 0;
  std::uint64_t refusals_sent = 0;
  std::uint64_t resent = 0;
  // These count on cores that do not own the blocks.
  std::uint64_t partial_sums = 0;
  std::uint64_t passed_on = 0;
  // These count for sparse blocks alone, as do contributions, sums, results and answers above for
  // dense ones. All else is of both kinds.
  std::uint64_t sparse_contributions = 0;
  std::uint64_t sparse_spills = 0;
  std::uint64_t sparse_sums = 0;
  std::uint64_t sparse_results = 0;
  std::uint64_t sparse_answers = 0;
  std::uint64_t sparse_restarts = 0;
};
inline constexpr engine::FigureOf<TreeCounters> tree_counters[] = {
    {&TreeCounters::contributions,
     {"contributions_total", "packets", "contributions that were added", engine::Of::both}},
    {&TreeCounters::sums, {"sums_total", "packets", "sums that had everybody below"}},
    {&TreeCounters::results,
     {"results_total", "packets", "results that were made here, at the root, or came from above",
      engine::Of::both}},
    {&TreeCounters::answers, {"answers_total", "packets", "results that came from below"}},
    {&TreeCounters::duplicates,
     {"duplicates_total", "packets", "contributions and results that had come before",
      engine::Of::both}},
    {&TreeCounters::stale,
     {"stale_total", "packets", "packets of blocks of which everybody has the result",
      engine::Of::both}},
    {&TreeCounters::replays,
     {"replays_total", "results", "results that were sent again to who had lost them",
      engine::Of::both}},
    {&TreeCounters::inquiries, {"inquiries_total", "packets", "inquiries that came"}},
    {&TreeCounters::inquiries_sent,
     {"inquiries_sent_total", "packets", "inquiries that were sent", engine::Of::both}},
    {&TreeCounters::refusals, {"refusals_total", "packets", "refusals of sums that came in"}},
    {&TreeCounters::refusals_sent,
     {"refusals_sent_total", "packets",
      "refusals that were sent to ranks whose contribution is of another call than the others'"}},
    {&TreeCounters::resent,
     {"sums_resent_total", "sums", "sums that were sent up again", engine::Of::both}},
    {&TreeCounters::partial_sums,
     {"handed_over_sums_total", "packets",
      "sums of several contributions that a core handed over to the one that owns their block",
      engine::Of::both}},
    {&TreeCounters::passed_on,
     {"passed_on_total", "packets",
      "contributions that a core was to add up for another one, and handed over as they came",
      engine::Of::both}},
    {&TreeCounters::sparse_contributions,
     {"sparse_contributions_total", "shards", "shards of sparse blocks that were added",
      engine::Of::both}},
    {&TreeCounters::sparse_spills,
     {"sparse_spills_total", "shards",
      "shards that were spilled, and so went up before the rest of their sum"}},
    {&TreeCounters::sparse_sums, {"sparse_sums_total", "blocks", "sums of sparse blocks"}},
    {&TreeCounters::sparse_results,
     {"sparse_results_total", "shards",
      "shards of results that were made here, at the root, or came from above", engine::Of::both}},
    {&TreeCounters::sparse_answers,
     {"sparse_answers_total", "shards", "shards of results that came from below"}},
    {&TreeCounters::sparse_restarts,
     {"sparse_restarts_total", "blocks",
      "sparse blocks that were begun anew, because a switch below had done so"}},
};

// This is how the engine, or a tree, stands now.
struct Standing {
  std::uint64_t trees = 0;
  std::uint64_t active = 0;
  std::uint64_t window = 0;
  std::uint64_t sparse_window = 0;
  std::uint64_t gathering = 0;
  std::uint64_t sparse_gathering = 0;
  std::uint64_t memory = 0;
  std::uint64_t in_use = 0;
  std::uint64_t high_water = 0;
};
inline constexpr engine::FigureOf<Standing> standing_figures[] = {
    {&Standing::trees,
     {"trees", "trees", "trees that are installed", engine::Of::engine, engine::Merge::maximum}},
    {&Standing::active,
     {"trees_active", "trees", "trees in which somebody has been heard lately", engine::Of::engine,
      engine::Merge::maximum}},
    {&Standing::window,
     {"window", "blocks", "the tree's setting `window`", engine::Of::tree, engine::Merge::maximum}},
    {&Standing::sparse_window,
     {"sparse_window", "blocks", "the tree's setting `sparse_window`", engine::Of::tree,
      engine::Merge::maximum}},
    {&Standing::gathering,
     {"blocks_gathering", "blocks", "blocks that wait for somebody", engine::Of::both}},
    {&Standing::sparse_gathering,
     {"sparse_blocks_gathering", "blocks", "sparse blocks that wait for somebody",
      engine::Of::both}},
    {&Standing::memory,
     {"working_memory", "packets", "the setting `working_memory`", engine::Of::engine,
      engine::Merge::maximum}},
    {&Standing::in_use,
     {"buffers_in_use", "packets",
      "packets of `working_memory` that blocks and kept results have"}},
    {&Standing::high_water,
     {"buffers_high_water", "packets", "the most packets that have been in use at a time",
      engine::Of::engine, engine::Merge::maximum}},
};

}  // namespace tributary::flare
