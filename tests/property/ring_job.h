// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/roce/tuning.h"
#include "property/shape.h"
#include "protocols/netreduce/host/link.h"
#include "protocols/netreduce/host/plan.h"
#include "support/virtual_fabric.h"

namespace tributary::test {

// The plan that the ranks of a NetReduce job and its switches agree on.
host::NetReducePlan ring_plan(const Shape& shape, std::uint32_t job);

// The ends of the connections of one of the job's runs, by rank.
std::vector<host::LinkEnd> ring_ends(const Shape& shape, std::uint32_t job, std::uint64_t run,
                                     std::size_t world);

// The same timeouts as those of the communicator.
host::roce::Tuning ring_tuning(const Shape& shape);

// Gives every switch its part in the rings of the shape's NetReduce jobs.
void set_up_rings(const Shape& shape, FabricSpec& fabric);

}  // namespace tributary::test
