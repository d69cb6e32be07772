// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "engine/figures.h"
#include "protocols/canary/engine/admission.h"

namespace tributary::canary {

// Counts what the engine did since it was made. A contribution is stored, passes as a straggler, or
// goes to the leader: for one of three reasons, or because its block was refused (Admission); the
// others were drops.
struct Counters {
  std::uint64_t contributions = 0;
  std::uint64_t blocks = 0;
  std::uint64_t joined = 0;
  std::uint64_t stragglers = 0;
  std::uint64_t collisions = 0;
  std::uint64_t children_overflows = 0;
  std::uint64_t accumulator_overflows = 0;
  std::uint64_t sums_complete = 0;
  std::uint64_t sums_expected = 0;
  std::uint64_t sums_timeout = 0;
  std::uint64_t results = 0;
  std::uint64_t releases = 0;
  std::uint64_t restorations = 0;
  std::uint64_t passed = 0;
  std::uint64_t requests = 0;
  std::uint64_t failures = 0;
  std::uint64_t pendings = 0;
  std::uint64_t aged = 0;
};

// This is all that the engine tells of itself.
struct Standing : Counters, Admission::Counters {
  std::uint64_t sums = 0;
  std::uint64_t copies = 0;
  std::uint64_t untracked = 0;
  std::uint64_t slots = 0;
  std::uint64_t in_use = 0;
  std::uint64_t high_water = 0;
  std::uint64_t accumulators = 0;
  std::uint64_t accumulators_high_water = 0;
  std::uint64_t bytes = 0;
  std::uint64_t bytes_high_water = 0;
};
inline constexpr engine::FigureOf<Standing> standing_figures[] = {
    {&Standing::contributions,
     {"contributions_total", "packets",
      "contributions that the engine took, whatever became of them"}},
    {&Standing::blocks,
     {"blocks_total", "packets", "contributions that began a block (got a descriptor)"}},
    {&Standing::joined, {"joined_total", "packets", "contributions that were added to a block"}},
    {&Standing::stragglers,
     {"stragglers_total", "packets",
      "contributions that came after the partial sum of their block had gone on"}},
    {&Standing::collisions,
     {"collisions_total", "packets",
      "contributions that went past the table because other blocks have the slots"}},
    {&Standing::quota_job,
     {"quota_job_total", "packets",
      "contributions that went past the table because the job's quota is used up"}},
    {&Standing::quota_port,
     {"quota_port_total", "packets",
      "contributions that went past the table because the port's quota is used up"}},
    {&Standing::partition_none,
     {"partition_none_total", "packets",
      "contributions that went past the table because the job has no part of it"}},
    {&Standing::children_overflows,
     {"children_overflows_total", "packets",
      "contributions that went past the table because there was no room for another child, "
      "or for another port by which one sends over a bridge"}},
    {&Standing::accumulator_overflows,
     {"accumulator_overflows_total", "packets",
      "contributions that went past the table because there was no room for a wider accumulator"}},
    {&Standing::sums,
     {"partial_sums_total", "packets", "partial sums that were sent, for any reason"}},
    {&Standing::sums_complete,
     {"partial_sums_complete_total", "packets",
      "partial sums that were sent because all contributions were in or had passed"}},
    {&Standing::sums_expected,
     {"partial_sums_expected_total", "packets",
      "partial sums that were sent because as many were in as for the block before "
      "(`learn_contributions`)"}},
    {&Standing::sums_timeout,
     {"partial_sums_timeout_total", "packets",
      "partial sums that were sent because the time was up"}},
    {&Standing::results, {"results_total", "packets", "results that freed a descriptor"}},
    {&Standing::releases,
     {"releases_total", "packets", "releases that freed a descriptor, so without data"}},
    {&Standing::copies,
     {"result_copies_total", "packets", "copies of results that were made for children"}},
    {&Standing::restorations, {"restorations_total", "packets", "restorations that came"}},
    {&Standing::passed,
     {"passed_total", "packets", "packets for others that went on as they were"}},
    {&Standing::requests, {"requests_total", "packets", "of `passed_total`, requests"}},
    {&Standing::failures, {"failures_total", "packets", "of `passed_total`, failures"}},
    {&Standing::pendings,
     {"pendings_total", "packets", "of `passed_total`, what leaders say of blocks that wait"}},
    {&Standing::aged,
     {"aged_total", "descriptors",
      "descriptors that were given up because no result came within `age_max`"}},
    {&Standing::reclaimed,
     {"reclaimed_total", "descriptors",
      "descriptors without a result that made room for another block (`reclaim_after`)"}},
    {&Standing::superseded,
     {"superseded_total", "descriptors", "descriptors whose block began a later attempt"}},
    {&Standing::untracked,
     {"jobs_untracked_total", "times",
      "how often a job found no place in the table of `job.list`, so that its packets are not "
      "counted there"}},
    {&Standing::slots, {"descriptors", "slots", "slots of the table"}},
    {&Standing::in_use, {"descriptors_in_use", "slots", "slots that blocks have"}},
    {&Standing::high_water,
     {"descriptors_high_water", "slots", "the most slots that blocks have had at a time",
      engine::Of::engine, engine::Merge::maximum}},
    {&Standing::accumulators,
     {"accumulators_in_use", "blocks", "blocks that gather, and so hold an accumulator"}},
    {&Standing::accumulators_high_water,
     {"accumulators_high_water", "blocks", "the most blocks that have gathered at a time",
      engine::Of::engine, engine::Merge::maximum}},
    {&Standing::bytes, {"accumulator_bytes", "bytes", "memory of accumulators"}},
    {&Standing::bytes_high_water,
     {"accumulator_bytes_high_water", "bytes", "the most memory of accumulators at a time",
      engine::Of::engine, engine::Merge::maximum}},
};

}  // namespace tributary::canary
