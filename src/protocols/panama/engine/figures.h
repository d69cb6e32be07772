// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "engine/figures.h"

namespace tributary::panama {

// Counts what was done for one tree since it was installed.
struct TreeCounters {
  std::uint64_t contributions = 0;
  std::uint64_t sums = 0;
  std::uint64_t results = 0;
  std::uint64_t congested = 0;
  std::uint64_t partial = 0;
  std::uint64_t skipped = 0;
  std::uint64_t replaced = 0;
  std::uint64_t late = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t replays = 0;
  std::uint64_t answers = 0;
  std::uint64_t inquiries = 0;
  std::uint64_t inquiries_sent = 0;
  std::uint64_t resent = 0;
  std::uint64_t over_cap = 0;
  std::uint64_t left = 0;
};
inline constexpr engine::FigureOf<TreeCounters> tree_counters[] = {
    {&TreeCounters::contributions,
     {"contributions_total", "packets", "contributions that were taken", engine::Of::both}},
    {&TreeCounters::sums,
     {"sums_total", "packets", "sums that were sent up, or were complete at the root"}},
    {&TreeCounters::partial,
     {"partial_sums_total", "packets", "with partial aggregation: sums that lack somebody",
      engine::Of::both}},
    {&TreeCounters::results,
     {"results_total", "packets",
      "results that were made here, at the root, or came from above; they went down",
      engine::Of::both}},
    {&TreeCounters::congested,
     {"results_congested_total", "packets", "of `results_total`, those that were marked (ECN)",
      engine::Of::both}},
    {&TreeCounters::skipped,
     {"skipped_total", "VIDs",
      "packet numbers (VIDs) that somebody was missing for when a later one was complete: this "
      "happens only where packets are lost",
      engine::Of::both}},
    {&TreeCounters::replaced,
     {"replaced_total", "packets",
      "with partial aggregation: sums that waited here when one with more workers came"}},
    {&TreeCounters::late,
     {"late_total", "packets",
      "with partial aggregation: contributions that came after their sum had gone without them",
      engine::Of::both}},
    {&TreeCounters::duplicates,
     {"duplicates_total", "packets", "contributions and results that had come before",
      engine::Of::both}},
    {&TreeCounters::replays,
     {"replays_total", "packets", "results that were sent again, because a repeat asked for them",
      engine::Of::both}},
    {&TreeCounters::answers,
     {"answers_total", "packets",
      "results that came from below, that were passed to the one who had asked for them, or that "
      "came again where somebody may lack them"}},
    {&TreeCounters::inquiries, {"inquiries_total", "packets", "inquiries that came"}},
    {&TreeCounters::inquiries_sent,
     {"inquiries_sent_total", "packets",
      "inquiries that were sent, for results that a repeat asked for and that are not here any "
      "more"}},
    {&TreeCounters::resent,
     {"sums_resent_total", "packets", "sums that were sent up again, because a repeat came"}},
    {&TreeCounters::over_cap,
     {"over_cap_total", "packets", "contributions beyond the tree's memory", engine::Of::both}},
    {&TreeCounters::left,
     {"left_total", "packets",
      "packets that waited for an epoch, until their sender went on to another one"}},
};

// This is how the engine, or a tree, stands now.
struct Standing {
  std::uint64_t trees = 0;
  std::uint64_t active = 0;
  std::uint64_t cap = 0;
  std::uint64_t memory = 0;
  std::uint64_t granted = 0;
  std::uint64_t held = 0;
  std::uint64_t held_high_water = 0;
  std::uint64_t kept = 0;
  std::uint64_t kept_high_water = 0;
  std::uint64_t gathering = 0;
  std::uint64_t early = 0;
  std::uint64_t epoch = 0;
  std::uint64_t expected = 0;
  std::uint64_t shown_cap = 0;
  std::uint64_t granted_here = 0;
  std::uint64_t held_here = 0;
};
inline constexpr engine::FigureOf<Standing> standing_figures[] = {
    {&Standing::trees,
     {"trees", "trees", "trees that are installed", engine::Of::engine, engine::Merge::maximum}},
    {&Standing::active, {"trees_active", "trees", "trees in which a collective is under way"}},
    {&Standing::cap,
     {"wnd_cap", "packets", "packets that an active tree is to have now", engine::Of::engine,
      engine::Merge::minimum}},
    {&Standing::memory,
     {"packet_memory", "packets", "the setting `packet_memory`: packets that may wait at one port",
      engine::Of::engine, engine::Merge::maximum}},
    {&Standing::granted,
     {"packets_granted", "packets",
      "packets that all trees together have been promised; never more than `packet_memory`",
      engine::Of::engine, engine::Merge::maximum}},
    {&Standing::held,
     {"packets_held", "packets",
      "packets that wait at the fullest port; never more than `packet_memory`", engine::Of::engine,
      engine::Merge::maximum}},
    {&Standing::held_high_water,
     {"packets_held_high_water", "packets", "the most packets that have waited at one port",
      engine::Of::engine, engine::Merge::maximum}},
    {&Standing::kept,
     {"packets_kept", "packets", "packets with results that are kept for whoever loses them"}},
    {&Standing::kept_high_water,
     {"packets_kept_high_water", "packets", "the most packets that have been kept at a time",
      engine::Of::engine, engine::Merge::maximum}},
    {&Standing::gathering,
     {"rows_gathering", "VIDs", "packet numbers (VIDs) for which somebody is waited for"}},
    {&Standing::early,
     {"packets_early", "packets", "packets that wait for the next epoch of their tree"}},
    {&Standing::epoch,
     {"epoch", "epochs", "the number of the collective that is under way", engine::Of::tree}},
    {&Standing::expected,
     {"expected_vid", "packets",
      "the first packet number of the epoch that has not gone by here; all before it have",
      engine::Of::tree}},
    {&Standing::shown_cap,
     {"wnd_cap_packets", "packets", "the window that workers are told", engine::Of::tree}},
    {&Standing::granted_here,
     {"granted_packets", "packets", "the memory that the tree has at each port", engine::Of::tree}},
    {&Standing::held_here,
     {"held_packets", "packets",
      "packets of the tree that wait at the fullest port, with the early packets of its child, two "
      "at most",
      engine::Of::tree}},
};

}  // namespace tributary::panama
