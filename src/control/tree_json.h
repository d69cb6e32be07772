// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "control/runtime_trees.h"
#include "engine/status.h"

namespace tributary::control {

// A switch's part of a tree is written so in the control protocol, in the state file and in what
// tributaryctl prints.
nlohmann::json to_json(const TreePart& part);

// The status says what has become of the tree since it was installed.
nlohmann::json to_json(const engine::TreeStatus& status);

// Reads parts from a list; the error says what is wrong with which one. Members that are not known
// are refused, but for those in `passed_over`.
tl::expected<std::vector<TreePart>, std::string> read_trees(
    const nlohmann::json& list, const std::vector<std::string>& passed_over = {});

}  // namespace tributary::control
