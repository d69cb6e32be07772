// SPDX-License-Identifier: BSD-3-Clause
#include "fabric_seeds.h"

#include <cstdint>
#include <cstdio>
#include <map>

#include "controller/obstacles.h"
#include "fabric_steps.h"

namespace tributary::ctl {

using controller::FabricFile;
using controller::LiveFabric;
using nlohmann::json;

SeedSteps plan_seeds(const FabricFile& file, const LiveFabric& live) {
  SeedSteps steps{controller::missing_seeds(file.topology, live.seeds()), {}};
  auto then = live.seeds();
  for (const auto& change : steps.changes) {
    then[change.switch_index] = change.seed;
  }
  steps.problems = controller::seed_faults(file.topology, then);
  return steps;
}

SeedSteps give_seeds(const FabricFile& file, LiveFabric& live) {
  SeedSteps steps;
  for (const auto& change : controller::missing_seeds(file.topology, live.seeds())) {
    if (const auto done = live.set_seed(change); done) {
      steps.changes.push_back(change);
    } else {
      steps.problems.push_back("switch " + name_of(file, change.switch_index) +
                               " does not take reduction_seed " + std::to_string(change.seed) +
                               ": " + done.error());
    }
  }
  for (auto& fault : controller::seed_faults(file.topology, live.seeds())) {
    steps.problems.push_back(std::move(fault));
  }
  return steps;
}

std::string text_of(const FabricFile& file, const SeedChanges& changes) {
  std::map<std::uint64_t, std::vector<std::string>> switches_of;
  for (const auto& change : changes) {
    switches_of[change.seed].push_back(name_of(file, change.switch_index));
  }
  std::string text;
  for (const auto& entry : switches_of) {
    text += (text.empty() ? "reduction_seed " : "; ") + std::to_string(entry.first) + " to " +
            controller::joined(entry.second);
  }
  return text;
}

json to_json(const FabricFile& file, const SeedChanges& changes) {
  json list = json::array();
  for (const auto& change : changes) {
    list.push_back(
        {{"switch", name_of(file, change.switch_index)}, {"reduction_seed", change.seed}});
  }
  return list;
}

void print_problems(const SeedSteps& seeds) {
  for (const std::string& problem : seeds.problems) {
    std::fprintf(stderr, "tributaryctl: %s\n", problem.c_str());
  }
}

}  // namespace tributary::ctl
