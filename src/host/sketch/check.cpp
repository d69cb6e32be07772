// SPDX-License-Identifier: BSD-3-Clause
#include "host/sketch/check.h"

#include <string>

#include "host/call_check.h"
#include "host/sketch/grid.h"
#include "host/text.h"

namespace tributary::host::sketch {
namespace {

Result<void> check_bits(const SketchOptions& options, std::uint32_t world_size) {
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

}  // namespace

Result<void> check(const Vectors& vectors, const GradientSketch& sketch, std::uint32_t world_size) {
  const auto count = vectors.in.size();
  if (count != sketch.count() || vectors.out.size() != count) {
    return invalid("a vector has another length than its GradientSketch");
  }
  if (auto checked = check_bits(sketch.options(), world_size); !checked) {
    return checked;
  }
  CommunicatorOptions options;
  options.world_size = world_size;
  return host::check(call_of(Collective::allreduce, vectors.in.data(), vectors.out.data(), count,
                             wire::ElementType::f32, wire::Operator::sum),
                     options);
}

}  // namespace tributary::host::sketch
