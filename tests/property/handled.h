// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "property/reference.h"
#include "property/shape.h"
#include "wire/element.h"

// Reductions by handlers, and their expected results, computed without the handlers.
namespace tributary::test {

// The handlers with the numbers 0, 1 and 2: sums of i8 that saturate at 127; sums of i32 from which
// each combination of two subtracts one; and sums of f32 to which each combination adds one.
inline constexpr unsigned handled_kinds = 3;

// Loads the handlers into this process; it may be called again.
void load_handlers();

wire::ElementType handled_type(unsigned number);
// Draws data whose result does not depend on the order of reduction.
Data handled_data(Random& random, unsigned number, std::size_t elements, std::uint32_t rank);
// Precondition: as for reduced().
Data handled(const std::vector<Data>& inputs, unsigned number);

}  // namespace tributary::test
