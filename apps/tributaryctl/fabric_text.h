// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "controller/fabric_file.h"
#include "controller/fabric_transaction.h"
#include "controller/levels.h"
#include "controller/plan.h"

namespace tributary::ctl {

using PlacedJobs = std::vector<controller::PlacedJob>;
using SeedChanges = std::vector<controller::SeedChange>;

// Returns "-" for the trees of a protocol without groups.
std::string group_text(wire::Ipv4Address group);

// Prints one row per switch of every tree.
void print_placement(const controller::FabricFile& fabric, const PlacedJobs& placed);
void print_environments(const controller::FabricFile& fabric, const PlacedJobs& placed);
nlohmann::json to_json(const controller::FabricFile& fabric, const PlacedJobs& placed);
nlohmann::json to_json(const controller::FabricFile& fabric,
                       const std::vector<controller::SwitchChange>& changes);
nlohmann::json to_json(const controller::FabricFile& fabric, const SeedChanges& changes);
// Returns for example "reduction_seed 1 to leaf1, leaf2; 2 to spine1".
std::string text_of(const controller::FabricFile& fabric, const SeedChanges& changes);

// Writes a file of the job, "job-7.env", for `set -a; . job-7.env` and systemd's EnvironmentFile.
tl::expected<void, std::string> write_environment(std::uint32_t job,
                                                  const control::Environment& environment,
                                                  const std::string& directory);
// Writes the files of all jobs.
tl::expected<void, std::string> write_environments(const controller::FabricFile& fabric,
                                                   const PlacedJobs& placed,
                                                   const std::string& directory);

}  // namespace tributary::ctl
