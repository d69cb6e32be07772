// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "host/gradient_sketch.h"
#include "sample.h"

namespace tributary::bench {

// Returns how far a sketch of a rank may be from its vector, of which all elements are between -1
// and 1. A bucket of quantiles may be as wide as that.
double sketch_slack(const SketchOptions& sketch, const Problem& problem);
// Returns how far the sum of matrices may be off, as a share of it; 2 to 64 ranks were measured. It
// is a tenth of that with 8 bits as a rule, and a hundredth with 16; but what the left factor lost
// has another basis for it, and where two of its columns are nearly the same on that, a whole
// column of the sum is lost.
double matrix_slack(const SketchOptions& sketch, const Problem& problem);

// Makes f32 as gradients have them: most near zero, some far from it, all between -1 and 1. A sum
// may be wrong by `slack` from each rank.
std::unique_ptr<Sample> make_sketch_sample(const Problem& problem, double slack);
// Makes matrices, of which all ranks' together have the shape's rank. A sum may be wrong, in the
// root mean square, by `slack` of its own, and is not what a rank gave itself, nor one value
// throughout. Iterations are rotated by a row.
std::unique_ptr<Sample> make_matrix_sample(const Problem& problem, const LowRank& shape,
                                           double slack);

}  // namespace tributary::bench
