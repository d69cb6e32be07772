// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "property/shape.h"
#include "support/virtual_fabric.h"

namespace tributary::test {

// What the engines' figures have to tell when a trial is over: what became of every packet that
// came in, and of everything that was held. The first thing that does not add up; empty if all
// does.
std::string find_canary_discrepancy(const VirtualFabric& fabric, const Shape& shape);
// `calm`: all collectives of all PANAMA jobs succeeded.
std::string find_panama_discrepancy(const VirtualFabric& fabric, const Shape& shape, bool calm);
// `calm`: all collectives of all NetReduce jobs succeeded.
std::string find_netreduce_discrepancy(const VirtualFabric& fabric, const Shape& shape, bool calm);
// `calm`: all collectives of all Flare jobs succeeded.
std::string find_flare_discrepancy(const VirtualFabric& fabric, const Shape& shape, bool calm);

}  // namespace tributary::test
