// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/topology.h"

namespace tributary::controller {

// A level has the switches that are equally far from the hosts; those with hosts behind them are
// level 1.
struct Level {
  std::size_t number = 0;
  std::vector<std::size_t> switches;
};

// Returns the levels on which some switch has several links to the next one, from the hosts on.
// Each of them needs a `reduction_seed` of its own
// (docs/design/0088-a-seed-for-each-level-of-a-fabric.md) unless it is the only one; then there are
// none here.
std::vector<Level> levels_with_a_choice(const Topology& topology);

// These are the `reduction_seed`s in force, by switch; 0: it has none, no value: nobody knows.
using Seeds = std::vector<std::optional<std::uint64_t>>;

struct SeedChange {
  std::size_t switch_index = 0;
  std::uint64_t seed = 0;

  friend bool operator==(const SeedChange&, const SeedChange&) = default;
};

// Returns what gives each of these levels a seed where its switches have none. A level of which
// some have one takes that; where they differ, nobody knows which one is meant, and nothing is
// changed.
std::vector<SeedChange> missing_seeds(const Topology& topology, const Seeds& seeds);

// Says what is wrong with the seeds that there are, and what helps.
std::vector<std::string> seed_faults(const Topology& topology, const Seeds& seeds);

struct SeedSteps {
  std::vector<SeedChange> changes;    // made, or to be made
  std::vector<std::string> problems;  // what is wrong after them
  bool refused = false;               // a switch did not take its seed
};
// Returns what it comes to if all switches that lack a seed take it.
SeedSteps plan_seeds(const Topology& topology, Seeds seeds);

}  // namespace tributary::controller
