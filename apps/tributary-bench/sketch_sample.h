// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "sample.h"

namespace tributary::bench {

// f32 as gradients have them: most near zero, some far from it, all between -1 and 1. A sum may be
// wrong by `slack` from each rank.
std::unique_ptr<Sample> make_sketch_sample(const Problem& problem, double slack);

}  // namespace tributary::bench
