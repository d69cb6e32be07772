// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "host/partial_result.h"
#include "property/exercises.h"
#include "property/reference.h"

namespace tributary::test {

// Tells whether `result` is the reduction of all ranks' inputs, but that elements lack the ranks
// that `partial` names for them, of which there may be up to `missing_max`.
bool is_partial_sum(const Exercise& exercise, const Data& result,
                    const std::vector<PartialResult>& partial, std::size_t missing_max);

}  // namespace tributary::test
