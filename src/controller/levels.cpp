// SPDX-License-Identifier: BSD-3-Clause
#include "controller/levels.h"

#include <algorithm>
#include <map>
#include <set>

#include "control/join.h"

namespace tributary::controller {
namespace {

using Neighbours = std::vector<std::vector<std::size_t>>;  // by switch; once for each link

Neighbours neighbours_in(const Topology& topology) {
  Neighbours neighbours(topology.switches.size());
  for (const Link& link : topology.links) {
    neighbours[link.a.switch_index].push_back(link.b.switch_index);
    neighbours[link.b.switch_index].push_back(link.a.switch_index);
  }
  return neighbours;
}

// Returns the levels by switch; 0: no host can be reached.
std::vector<std::size_t> level_numbers(const Topology& topology, const Neighbours& neighbours) {
  std::vector<std::size_t> number(topology.switches.size());
  std::vector<std::size_t> reached;
  for (const Host& host : topology.hosts) {
    if (number[host.at.switch_index] == 0) {
      number[host.at.switch_index] = 1;
      reached.push_back(host.at.switch_index);
    }
  }
  for (std::size_t next = 0; next < reached.size(); ++next) {
    const auto here = reached[next];
    for (const auto other : neighbours[here]) {
      if (number[other] == 0) {
        number[other] = number[here] + 1;
        reached.push_back(other);
      }
    }
  }
  return number;
}

// Returns the seeds that switches of a level have, without those that have none.
std::set<std::uint64_t> given_in(const Level& level, const Seeds& seeds) {
  std::set<std::uint64_t> given;
  for (const auto sw : level.switches) {
    if (seeds[sw].value_or(0) != 0) {
      given.insert(*seeds[sw]);
    }
  }
  return given;
}

// Returns the least seed from `first` on that is not taken.
std::uint64_t free_seed(std::uint64_t first, const std::set<std::uint64_t>& taken) {
  while (taken.contains(first)) {
    ++first;
  }
  return first;
}

}  // namespace

std::vector<Level> levels_with_a_choice(const Topology& topology) {
  const auto neighbours = neighbours_in(topology);
  const auto number = level_numbers(topology, neighbours);
  std::map<std::size_t, Level> levels;
  std::set<std::size_t> choosing;
  for (std::size_t sw = 0; sw < number.size(); ++sw) {
    levels[number[sw]].switches.push_back(sw);
    const auto ways_up = std::count_if(neighbours[sw].begin(), neighbours[sw].end(),
                                       [&](auto other) { return number[other] == number[sw] + 1; });
    if (number[sw] != 0 && ways_up > 1) {
      choosing.insert(number[sw]);
    }
  }
  std::vector<Level> found;
  for (const auto each : choosing) {
    found.push_back({each, std::move(levels[each].switches)});
  }
  return found.size() > 1 ? found : std::vector<Level>{};
}

std::vector<SeedChange> missing_seeds(const Topology& topology, const Seeds& seeds) {
  const auto levels = levels_with_a_choice(topology);
  std::set<std::uint64_t> taken;
  for (const Level& level : levels) {
    taken.merge(given_in(level, seeds));
  }
  std::vector<SeedChange> changes;
  for (const Level& level : levels) {
    const auto given = given_in(level, seeds);
    if (given.size() > 1) {
      continue;
    }
    const auto seed = given.empty() ? free_seed(level.number, taken) : *given.begin();
    taken.insert(seed);
    for (const auto sw : level.switches) {
      if (seeds[sw] == std::uint64_t{0}) {
        changes.push_back({sw, seed});
      }
    }
  }
  return changes;
}

std::vector<std::string> seed_faults(const Topology& topology, const Seeds& seeds) {
  std::vector<std::string> faults;
  std::map<std::uint64_t, std::vector<std::size_t>> levels_of;  // by seed
  for (const Level& level : levels_with_a_choice(topology)) {
    std::set<std::uint64_t> known;
    for (const auto sw : level.switches) {
      if (seeds[sw]) {
        known.insert(*seeds[sw]);
      }
    }
    if (known.size() > 1) {
      faults.push_back("switches of level " + std::to_string(level.number) +
                       " have different reduction_seeds (" +
                       control::join(known, control::as_text) +
                       "): blocks do not meet there; give all of a level the same, in "
                       "[switch.selection]");
    }
    for (const auto seed : known) {
      levels_of[seed].push_back(level.number);
    }
  }
  for (const auto& entry : levels_of) {
    if (entry.second.size() > 1) {
      faults.push_back("levels " + control::join(entry.second, control::as_text, " and ") +
                       " have the same reduction_seed, " + std::to_string(entry.first) +
                       ": switches of the higher one leave ways up idle; give each level one of "
                       "its own, in [switch.selection]");
    }
  }
  return faults;
}

SeedSteps plan_seeds(const Topology& topology, Seeds seeds) {
  SeedSteps steps{missing_seeds(topology, seeds), {}};
  for (const auto& change : steps.changes) {
    seeds[change.switch_index] = change.seed;
  }
  steps.problems = seed_faults(topology, seeds);
  return steps;
}

}  // namespace tributary::controller
