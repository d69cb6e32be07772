// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "controller/placement.h"

namespace tributary::controller {

// Follows the packets of a tree from every worker to the root, and returns where they leave their
// path, or an empty text if the tree is sound. It shares no code with the placement of trees.
std::string defect(const Topology& topology, const Job& job, const Tree& tree);

// Returns the links that a tree's sums take, each once.
std::vector<std::size_t> links_of(const Topology& topology, const Tree& tree);

}  // namespace tributary::controller
