// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/virtual_fabric.h"

namespace tributary::test {

// One line for a frame that comes out of a cable.
void print_hop(const Hop& hop);

}  // namespace tributary::test
