// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "engine/figures.h"
#include "protocols/netreduce/engine/ring.h"

namespace tributary::netreduce {

// Counts what the engine did since it was made, drops left out.
struct Counters {
  std::uint64_t gradients = 0;
  std::uint64_t overwritten = 0;
  std::uint64_t sums = 0;
  std::uint64_t partials = 0;
  std::uint64_t totals = 0;
  std::uint64_t results = 0;
  std::uint64_t answered = 0;
  std::uint64_t past = 0;
  std::uint64_t abandoned = 0;
  std::uint64_t provoked = 0;
  std::uint64_t passed = 0;
};

// This is all that the engine tells of itself.
struct Standing : Counters {
  std::uint64_t rings = 0;
  std::uint64_t runs = 0;
  std::uint64_t connections = 0;
  std::uint64_t waiting = 0;
};
inline constexpr engine::FigureOf<Standing> standing_figures[] = {
    {&Standing::gradients,
     {"gradients_total", "packets", "packets of rings that were put into a slot"}},
    {&Standing::overwritten,
     {"overwritten_total", "packets",
      "of `gradients_total`, those that their rank had sent before"}},
    {&Standing::sums, {"sums_total", "aggregators", "aggregators that had all packets from below"}},
    {&Standing::partials,
     {"partials_total", "packets",
      "packets that went up with the sum of what is below, as other members are above"}},
    {&Standing::totals,
     {"totals_total", "packets", "packets that brought the sum of all from above"}},
    {&Standing::results, {"results_total", "packets", "packets that went on with the sum of all"}},
    {&Standing::answered,
     {"answered_total", "packets",
      "of `results_total` and `partials_total`, repeats of packets whose sum was there already"}},
    {&Standing::past,
     {"past_total", "packets",
      "repeats that came too late for an answer, and went on as they were"}},
    {&Standing::abandoned,
     {"abandoned_total", "aggregators",
      "aggregators that a later message took before all packets were in"}},
    {&Standing::provoked,
     {"provoked_total", "packets",
      "packets that were sent so that the receiver notices that the first packet of a message was "
      "lost, and asks for it (NAK)"}},
    {&Standing::passed,
     {"passed_total", "packets",
      "packets that are no gradients of a ring, and went on as they were"}},
    {&Standing::rings,
     {"rings", "rings", "rings that are set up", engine::Of::engine, engine::Merge::maximum}},
    {&Standing::runs, {"runs", "runs", "runs of the rings"}},
    {&Standing::connections,
     {"connections", "connections", "connections by which ranks of rings send"}},
    {&Standing::waiting, {"packets_waiting", "packets", "packets that wait for others"}},
};

inline constexpr engine::FigureOf<Ring::Tally> ring_figures[] = {
    {&Ring::Tally::gradients,
     {"contributions_total", "packets", "packets of the ring that were put into a slot",
      engine::Of::tree}},
    {&Ring::Tally::sums,
     {"results_total", "aggregators", "aggregators that had all packets from below",
      engine::Of::tree}},
};

}  // namespace tributary::netreduce
