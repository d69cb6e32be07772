// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/virtual_fabric.h"

namespace tributary::test {

using Figures = std::map<std::string, std::uint64_t, std::less<>>;

// The figures of the engine of a switch, added up over its cores.
Figures figures_of(const VirtualFabric& fabric, std::size_t switch_index);
// The figures of one job, added up over the switches; the high-water mark is that of the fullest
// switch.
engine::JobStatus job_of(const VirtualFabric& fabric, std::uint32_t job);

// Expects that the figures account for every contribution, every descriptor and every packet
// (docs/reference/control-protocol.md, "Figures of Canary: what they account for"). Precondition:
// nothing was damaged or lost between switches.
void expect_accounted(const VirtualFabric& fabric);

}  // namespace tributary::test
