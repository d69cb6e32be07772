// SPDX-License-Identifier: BSD-3-Clause
// Reductions have seeds, one for each level of a fabric that needs one (controller/levels.h).
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "controller/fabric_file.h"
#include "controller/levels.h"
#include "controller/live_fabric.h"

namespace tributary::ctl {

using SeedChanges = std::vector<controller::SeedChange>;

struct SeedSteps {
  SeedChanges changes;                // made, or to be made
  std::vector<std::string> problems;  // what is wrong after them
};

// Returns what give_seeds() would come to.
SeedSteps plan_seeds(const controller::FabricFile& file, const controller::LiveFabric& live);
// Gives switches that have no seed that of their level. A switch that does not take it keeps none.
SeedSteps give_seeds(const controller::FabricFile& file, controller::LiveFabric& live);

// Returns for example "reduction_seed 1 to leaf1, leaf2; 2 to spine1".
std::string text_of(const controller::FabricFile& file, const SeedChanges& changes);
nlohmann::json to_json(const controller::FabricFile& file, const SeedChanges& changes);
// Prints to standard error.
void print_problems(const SeedSteps& seeds);

}  // namespace tributary::ctl
