// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/fabric_file.h"
#include "control/fabric_transaction.h"
#include "controller/topology.h"

namespace tributary::ctl {

using PlacedJobs = std::vector<controller::PlacedJob>;

// What the workers of a job are to be started with.
std::vector<std::pair<std::string, std::string>> environment_of(
    const control::FabricFile& fabric, std::size_t job, const controller::PlacedJob& placed);

// One row per switch of every tree.
void print_placement(const control::FabricFile& fabric, const PlacedJobs& placed);
void print_environments(const control::FabricFile& fabric, const PlacedJobs& placed);
nlohmann::json to_json(const control::FabricFile& fabric, const PlacedJobs& placed);
nlohmann::json to_json(const control::FabricFile& fabric,
                       const std::vector<control::SwitchChange>& changes);

// One file per job, "job-7.env", for `set -a; . job-7.env` and systemd's EnvironmentFile.
tl::expected<void, std::string> write_environments(const control::FabricFile& fabric,
                                                   const PlacedJobs& placed,
                                                   const std::string& directory);

}  // namespace tributary::ctl
