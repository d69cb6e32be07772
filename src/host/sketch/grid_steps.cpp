// SPDX-License-Identifier: BSD-3-Clause
#include "host/sketch/grid_steps.h"

#include <span>

#include "wire/element.h"

namespace tributary::host::sketch {

using wire::ElementType;
using wire::Operator;

GridSteps::GridSteps(const Vectors& vectors, GradientSketch& sketch, std::uint32_t rank,
                     std::uint32_t world_size, Scratch& scratch)
    : vectors_(vectors),
      pending_(vectors.in, sketch, rank),
      grid_(sketch.options().bits, world_size),
      scratch_(scratch),
      layers_(sketch.layers()) {
  for (const auto count : layers_) {
    chunks_ += chunks_of(count);
    integer_bytes_ += grid_.bytes_of(count);
  }
}

std::size_t GridSteps::bytes() const {
  return chunks_ * sizeof scratch_.bounds[0] + integer_bytes_;
}

std::optional<Step> GridSteps::next() {
  if (!stage_) {
    stage_ = Stage::bounds;
  } else {
    stage_ = *stage_ == Stage::bounds ? Stage::integers : Stage::done;
  }
  if (stage_ == Stage::done) {
    finish();
    return std::nullopt;
  }
  prepare();
  return step();
}

void GridSteps::prepare() {
  if (given_up()) {
    return;
  }
  if (stage_ == Stage::bounds) {
    find_bounds();
  } else {
    quantise();
  }
}

// Each layer begins with a chunk, and with a byte.
template <typename F>
void GridSteps::for_layers(F use) {
  Place place{};
  std::size_t chunk = 0;
  for (const auto count : layers_) {
    place.count = count;
    place.bounds = std::span(scratch_.bounds).subspan(chunk, chunks_of(count));
    use(place);
    place.first += count;
    place.first_byte += grid_.bytes_of(count);
    chunk += chunks_of(count);
  }
}

void GridSteps::find_bounds() {
  pending_.begin();
  scratch_.bounds.resize(chunks_);
  for_layers(
      [&](const Place& layer) { grid_.find_bounds(layer.bounds, layer.of(pending_.elements())); });
}

void GridSteps::quantise() {
  scratch_.carried.resize(integer_bytes_);
  own().resize(integer_bytes_);
  for_layers([&](const Place& layer) {
    grid_.quantise(own().data() + layer.first_byte, layer.of(pending_.elements()), layer.bounds,
                   pending_.chance(layer.first));
  });
}

// What the rank gave is needed once more where the rest is kept back.
std::vector<std::byte>& GridSteps::own() {
  return pending_.options().feedback ? scratch_.own : scratch_.carried;
}

// The sums are written last: the result may have its place where the vector was given.
void GridSteps::finish() {
  if (given_up()) {
    return;
  }
  for_layers([&](const Place& layer) {
    grid_.subtract(layer.of(pending_.kept()), own().data() + layer.first_byte, layer.bounds);
    grid_.restore(layer.of(vectors_.out), scratch_.carried.data() + layer.first_byte, layer.bounds);
  });
  pending_.end();
}

Step GridSteps::step() {
  if (stage_ == Stage::bounds) {
    auto* const words = std::as_writable_bytes(std::span(scratch_.bounds)).data();
    const Buffers bounds{words, words, chunks_, ElementType::i16, Operator::max};
    return {{Collective::allreduce, bounds, 0}};
  }
  const auto elements = integer_bytes_ / wire::element_bytes(grid_.type());
  const Buffers integers{own().data(), scratch_.carried.data(), elements, grid_.type(),
                         Operator::sum};
  return {{Collective::allreduce, integers, 0}};
}

}  // namespace tributary::host::sketch
