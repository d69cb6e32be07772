// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "host/error.h"
#include "host/gradient_sketch.h"
#include "host/sketch/vectors.h"

namespace tributary::host::sketch {

// Fails if such a matrix is too large for a collective.
Result<void> check_size(const LowRank& matrix);
// Fails if the layers together are too large for a collective, or have no sketch of that kind.
Result<void> check_layers(std::span<const std::size_t> layers, SketchKind kind);
// Fails if the sums of so many ranks' sketches of plain vectors do not fit into their bits.
Result<void> check(const SketchOptions& options, std::uint32_t world_size);
// Checks whether the arguments of a sketched allreduce make sense among so many ranks; the error
// says which do not.
Result<void> check(const Vectors& vectors, const GradientSketch& sketch, std::uint32_t world_size);

}  // namespace tributary::host::sketch
