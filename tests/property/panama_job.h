// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "property/shape.h"
#include "protocols/panama/host/plan.h"
#include "support/virtual_fabric.h"

namespace tributary::test {

// The plan by which the ranks know the job's trees.
host::PanamaPlan panama_plan(const Shape& shape, std::uint32_t job, std::size_t world);

// Gives every switch its part in the trees of the shape's PANAMA jobs.
void set_up_trees(const Shape& shape, FabricSpec& fabric);

}  // namespace tributary::test
