// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "host/gradient_sketch.h"
#include "sample.h"

namespace tributary::bench {

// f32 as gradients have them: most near zero, some far from it, all between -1 and 1. A sum may be
// wrong by `slack` from each rank.
std::unique_ptr<Sample> make_sketch_sample(const Problem& problem, double slack);
// Matrices, of which all ranks' together have the shape's rank. A sum may be wrong, in the root
// mean square, by `slack` of its own. Iterations are rotated by a row.
std::unique_ptr<Sample> make_matrix_sample(const Problem& problem, const LowRank& shape,
                                           double slack);

}  // namespace tributary::bench
