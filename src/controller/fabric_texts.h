// SPDX-License-Identifier: BSD-3-Clause
// These tell operators how switches and jobs of a fabric stand.
#pragma once

#include <string>
#include <vector>

#include "controller/fabric_file.h"
#include "controller/live_fabric.h"
#include "controller/obstacles.h"
#include "controller/plan.h"

namespace tributary::controller {

// Returns the switches that do not answer, and why.
std::vector<Alike> silent_groups(const FabricFile& file, const LiveFabric& live);
std::vector<std::string> silent_texts(const FabricFile& file, const LiveFabric& live);

// Says which switches trees go around because they would not take them, and why.
std::vector<std::string> detour_texts(const FabricFile& file, const Plan& plan);

// Returns why jobs have no place, with their places in the file.
control::ConfigErrors errors_of(const FabricFile& file, const std::vector<Refusal>& refusals);

// Says why not all switches have what they were to have, and what the others have.
std::string text_of(const FabricFile& file, const TransactionFailure& failure);

}  // namespace tributary::controller
