// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "property/reference.h"
#include "property/shape.h"
#include "wire/element.h"

// Reductions by handlers, and what has to come of them, computed without these.
namespace tributary::test {

// Those with the numbers 0, 1, ...: sums of i8 that stop at 127; sums of i32 less one each time
// that two are combined; and sums of f32 and one each time.
inline constexpr unsigned handled_kinds = 3;

// For the process; it may be called again.
void load_handlers();

wire::ElementType handled_type(unsigned number);
// Such that no order of reduction makes a difference.
Data handled_data(Random& random, unsigned number, std::size_t elements, std::uint32_t rank);
// Precondition: as for reduced().
Data handled(const std::vector<Data>& inputs, unsigned number);

}  // namespace tributary::test
