// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "support/virtual_fabric.h"
#include "wire/cursor.h"

namespace tributary::test {

// Describes a frame in a few words.
std::string describe_frame(wire::Bytes frame);
// Prints one line for a frame that comes out of a cable.
void print_hop(const Hop& hop);

}  // namespace tributary::test
