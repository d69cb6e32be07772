// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/panama/plan.h"
#include "property/shape.h"
#include "support/virtual_fabric.h"

namespace tributary::test {

// Where the ranks of a PANAMA job are: every one on a host of its own. Fewer ranks than the shape
// says where there are not so many hosts.
std::vector<std::size_t> panama_hosts(const Shape& shape, std::uint32_t job, std::size_t hosts);

// What the ranks know of the job's trees.
host::PanamaPlan panama_plan(const Shape& shape, std::uint32_t job, std::size_t world);

// Ids of jobs, of either engine, for switches.
constexpr std::uint32_t job_id(std::uint32_t job) {
  return 1 + job * 0x10001;
}

// Gives every switch its part in the trees of the shape's PANAMA jobs.
void set_up_trees(const Shape& shape, FabricSpec& fabric);

}  // namespace tributary::test
