// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "property/shape.h"
#include "protocols/flare/host/plan.h"
#include "support/virtual_fabric.h"

namespace tributary::test {

// The plan by which the ranks know the job's reduction tree.
host::FlarePlan flare_plan(const Shape& shape, std::uint32_t job);

// Whether the shape's Flare jobs have sparse calls; packets that are too small have no room for a
// sparse block.
bool has_sparse_calls(const Shape& shape);

// Gives every switch its part in the reduction trees of the shape's Flare jobs.
void set_up_reduction_trees(const Shape& shape, FabricSpec& fabric);

}  // namespace tributary::test
