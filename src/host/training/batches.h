// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "host/call.h"
#include "host/gradient_sketch.h"
#include "host/sketch/chunks.h"

namespace tributary::host {

// Layers that follow each other are added up together, up to about so many elements.
inline constexpr std::size_t batch_elements = std::size_t{1} << 22;

// Returns how many elements a layer takes in a batch: on a grid, whose chunks have one unit each,
// no chunk has elements of two layers.
inline std::size_t room_of(std::size_t elements, const std::optional<SketchOptions>& sketch) {
  return sketch && sketch->kind == SketchKind::grid
             ? sketch::chunks_of(elements) * sketch::chunk_elements
             : elements;
}

inline Call sum_of_floats(std::span<float> values) {
  return call_of(Collective::allreduce, values.data(), values.data(), values.size(),
                 wire::ElementType::f32, wire::Operator::sum);
}

}  // namespace tributary::host
