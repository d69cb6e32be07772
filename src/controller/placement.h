// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "controller/topology.h"

namespace tributary::controller {

// A Refusal says why a job has no place, and what to do.
struct Refusal {
  std::uint32_t job = 0;
  std::string message;
  std::string hint;
};

// These are the trees of all jobs, which have one engine, in their order; a job that does not fit
// has none. `installed` is what the switches have: jobs that are not placed here keep theirs, and
// their load counts; jobs that are keep roots, ways and groups as far as these still fit, so that
// placing again changes nothing. The same arguments have the same result.
//
// Trees of a job have roots of their own, and share links only where there is no other way; then
// the least loaded come first.
struct PartialPlacement {
  std::vector<PlacedJob> jobs;
  std::vector<Refusal> refusals;
};
PartialPlacement place_what_fits(const Topology& topology, const std::vector<Job>& jobs,
                                 const std::vector<PlacedPart>& installed, GroupRange groups);

}  // namespace tributary::controller
