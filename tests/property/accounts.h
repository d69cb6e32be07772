// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "property/shape.h"
#include "support/virtual_fabric.h"

namespace tributary::test {

// Checks the engines' figures at the end of a trial: they have to account for every packet that
// came in, and for everything that was held. Return the first discrepancy, or an empty text.
std::string find_canary_discrepancy(const VirtualFabric& fabric, const Shape& shape);
// `calm` means that all collectives of all PANAMA jobs succeeded.
std::string find_panama_discrepancy(const VirtualFabric& fabric, const Shape& shape, bool calm);
// `calm` means that all collectives of all NetReduce jobs succeeded.
std::string find_netreduce_discrepancy(const VirtualFabric& fabric, const Shape& shape, bool calm);
// `calm` means that all collectives of all Flare jobs succeeded.
std::string find_flare_discrepancy(const VirtualFabric& fabric, const Shape& shape, bool calm);

}  // namespace tributary::test
