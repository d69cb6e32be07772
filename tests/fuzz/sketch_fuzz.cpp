// SPDX-License-Identifier: BSD-3-Clause
// What the network may bring in a sketched allreduce: bounds, integers, values and codes. Nothing
// may crash, and ranks to whom the same came have the same sum.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "host/sketch/grid_steps.h"
#include "host/sketch/low_rank_steps.h"
#include "host/sketch/quantile_steps.h"
#include "input.h"

namespace {

using namespace tributary;
using namespace tributary::host::sketch;
using fuzz::Input;

using Bytes = std::vector<std::byte>;

struct Shape {
  std::size_t count = 0;
  std::uint32_t ranks = 0;
  SketchOptions options;
  std::optional<LowRank> matrix;

  GradientSketch sketch() const {
    return matrix ? GradientSketch(*matrix, options) : GradientSketch(count, options);
  }
};

Shape draw_shape(Input& input) {
  const auto kind = input.next();
  const bool is_grid = kind % 2 == 0;
  constexpr unsigned of_grid[] = {16, 8, 4};
  constexpr unsigned of_quantiles[] = {8, 4, 2};
  const auto choice = input.next() % 3u;
  Shape shape;
  shape.options.kind = is_grid ? SketchKind::grid : SketchKind::quantiles;
  shape.options.bits = is_grid ? of_grid[choice] : of_quantiles[choice];
  shape.options.rounding = input.next() % 2 == 0 ? Rounding::stochastic : Rounding::nearest;
  shape.options.feedback = input.next() % 2 == 0;
  shape.ranks = 2 + input.next() % 4u;  // as many as the fewest bits have room for
  shape.count = 1 + input.next() * 5u;
  if (is_grid && (kind & 64) != 0) {
    const auto columns = std::min<std::size_t>(shape.count, 1 + kind % 23u);
    shape.matrix = LowRank{shape.count / columns, columns, 0};
    shape.matrix->rank = 1 + kind / 8u % std::min(shape.matrix->rows, columns);
    shape.count = shape.matrix->rows * columns;
    shape.options.bits = (kind & 128) != 0 ? 32 : shape.options.bits;
  }
  return shape;
}

// Any bits: numbers, infinities and NaNs.
std::vector<float> draw_elements(Input& input, std::size_t count) {
  std::vector<float> drawn;
  for (auto n = input.next() % 16; n >= 0; --n) {
    const auto high = input.next();
    drawn.push_back(std::ldexp(static_cast<float>(input.next()) - 128.0f, high - 128));
    if (high == 255) {
      drawn.back() = INFINITY;
    }
  }
  std::vector<float> elements(count);
  for (std::size_t i = 0; i < count; ++i) {
    elements[i] = drawn[i * i % drawn.size()];
  }
  return elements;
}

// Of one rank what it gave, with some of it or all of it changed.
void change(Input& input, Bytes& bytes) {
  const auto changes = input.next();
  if (changes == 255) {
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(input.next()); });
    return;
  }
  for (unsigned i = 0; i < changes; ++i) {
    const auto at = input.next() * 256u + input.next();
    bytes[at % bytes.size()] = static_cast<std::byte>(input.next());
  }
}

bool alike(float a, float b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

template <typename Steps>
void reduce(Input& input, const Shape& shape) {
  const auto first_in = draw_elements(input, shape.count);
  const auto second_in = draw_elements(input, shape.count);
  std::vector<float> first_out(shape.count);
  std::vector<float> second_out(shape.count);
  auto first_sketch = shape.sketch();
  auto second_sketch = shape.sketch();
  Scratch first_scratch;
  Scratch second_scratch;
  Steps first({first_in, first_out}, first_sketch, 0, shape.ranks, first_scratch);
  Steps second({second_in, second_out}, second_sketch, shape.ranks - 1, shape.ranks,
               second_scratch);
  while (const auto step = first.next()) {
    const auto other = second.next();
    const auto& buffers = step->call.buffers;
    assert(other && other->call.buffers.bytes() == buffers.bytes());
    Bytes came(buffers.in, buffers.in + buffers.bytes());
    change(input, came);
    std::copy(came.begin(), came.end(), buffers.out);
    std::copy(came.begin(), came.end(), other->call.buffers.out);
  }
  assert(!second.next());
  assert(first_sketch.rounds() == 1 && second_sketch.rounds() == 1);
  assert(std::equal(first_out.begin(), first_out.end(), second_out.begin(), alike));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input({data, size});
  const auto shape = draw_shape(input);
  if (shape.matrix) {
    reduce<LowRankSteps>(input, shape);
  } else if (shape.options.kind == SketchKind::grid) {
    reduce<GridSteps>(input, shape);
  } else {
    reduce<QuantileSteps>(input, shape);
  }
  return 0;
}
