// SPDX-License-Identifier: BSD-3-Clause
#include "host/sketch/check.h"

#include <algorithm>
#include <string>

#include "host/call_check.h"
#include "host/sketch/grid.h"
#include "host/text.h"

namespace tributary::host::sketch {

Result<void> check(const SketchOptions& options, std::uint32_t world_size) {
  const auto bits = options.bits;
  const bool is_grid = options.kind == SketchKind::grid;
  if (bits != 4 && bits != 8 && bits != (is_grid ? 16u : 2u)) {
    return invalid("a sketch has no elements of " + std::to_string(bits) + " bits: give it " +
                   (is_grid ? "16, 8 or 4" : "8, 4 or 2 of quantiles"));
  }
  if (is_grid && Grid::levels_of(bits, world_size) == 0) {
    return invalid("the sums of " + std::to_string(world_size) + " ranks do not fit into " +
                   std::to_string(bits) + " bits: give the sketch more");
  }
  return {};
}

namespace {

// The factors of a matrix go on a grid, or as floats, which have room for any sum.
Result<void> check_matrix(const LowRank& matrix, const SketchOptions& options,
                          std::uint32_t world_size) {
  const auto most = std::min(matrix.rows, matrix.columns);
  if (most != 0 && (matrix.rank == 0 || matrix.rank > most)) {
    return invalid("a matrix of " + std::to_string(matrix.rows) + " x " +
                   std::to_string(matrix.columns) + " has no factors of rank " +
                   std::to_string(matrix.rank) + ": give a rank from 1 to " + std::to_string(most));
  }
  if (options.kind != SketchKind::grid) {
    return invalid(
        "the factors of a matrix are added up, which codes of quantiles cannot be: "
        "choose a grid");
  }
  return options.bits == 32 ? Result<void>{} : check(options, world_size);
}

}  // namespace

Result<void> check_size(const LowRank& matrix) {
  if (matrix.columns == 0 || matrix.rows <= elements_max / matrix.columns) {
    return {};
  }
  return invalid("a matrix of " + std::to_string(matrix.rows) + " x " +
                 std::to_string(matrix.columns) + " is too great for one collective; split it");
}

Result<void> check_layers(std::span<const std::size_t> layers, SketchKind kind) {
  if (layers.size() > 1 && kind == SketchKind::quantiles) {
    return invalid("each layer has quantiles of its own: give it a sketch of its own");
  }
  std::size_t left = elements_max;
  for (const auto count : layers) {
    if (count > left) {
      return invalid("the layers of a sketch are too great for one collective; split them");
    }
    left -= count;
  }
  return {};
}

Result<void> check(const Vectors& vectors, const GradientSketch& sketch, std::uint32_t world_size) {
  if (sketch.matrix()) {
    if (auto checked = check_size(*sketch.matrix()); !checked) {
      return checked;
    }
  }
  if (auto checked = check_layers(sketch.layers(), sketch.options().kind); !checked) {
    return checked;
  }
  const auto count = vectors.in.size();
  if (count != sketch.count() || vectors.out.size() != count) {
    return invalid("a vector has another length than its GradientSketch");
  }
  const auto& options_of_sketch = sketch.options();
  const auto& matrix = sketch.matrix();
  if (auto checked = matrix ? check_matrix(*matrix, options_of_sketch, world_size)
                            : check(options_of_sketch, world_size);
      !checked) {
    return checked;
  }
  CommunicatorOptions options;
  options.world_size = world_size;
  return host::check(call_of(Collective::allreduce, vectors.in.data(), vectors.out.data(), count,
                             wire::ElementType::f32, wire::Operator::sum),
                     options);
}

}  // namespace tributary::host::sketch
