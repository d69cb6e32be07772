// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "control/config.h"
#include "control/tree_part.h"

namespace tributary::control {

// These aggregation trees were installed over the control socket, beside those of the configuration
// file. They are by the name of the switch, in the order of job and tree.
using RuntimeTrees = std::map<std::string, std::vector<TreePart>>;

// Takes the trees of `jobs` away from a switch and gives it `added`.
RuntimeTrees with_change(RuntimeTrees trees, const std::string& switch_name,
                         const std::vector<std::uint32_t>& jobs,
                         const std::vector<TreePart>& added);

// Adds `trees` to those of the file in `config`. The error names the tree that does not fit, and
// says why and what helps; then `config` is of no use.
tl::expected<void, std::string> add_trees(DaemonConfig& config, const RuntimeTrees& trees);

// Returns `current` with the trees of the file, `given`, and those installed at run time, `trees`.
tl::expected<DaemonConfig, std::string> with_trees(DaemonConfig current, const DaemonConfig& given,
                                                   const RuntimeTrees& trees);

}  // namespace tributary::control
