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
      count_(sketch.count()) {}

std::size_t GridSteps::bytes() const {
  return chunks_of(count_) * sizeof scratch_.bounds[0] + grid_.bytes_of(count_);
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
    pending_.begin();
    scratch_.bounds.resize(chunks_of(count_));
    grid_.find_bounds(scratch_.bounds, pending_.elements());
    return;
  }
  scratch_.carried.resize(grid_.bytes_of(count_));
  own().resize(grid_.bytes_of(count_));
  grid_.quantise(own().data(), pending_.elements(), scratch_.bounds, pending_.chance());
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
  grid_.subtract(pending_.kept(), own().data(), scratch_.bounds);
  grid_.restore(vectors_.out, scratch_.carried.data(), scratch_.bounds);
  pending_.end();
}

Step GridSteps::step() {
  if (stage_ == Stage::bounds) {
    auto* const words = std::as_writable_bytes(std::span(scratch_.bounds)).data();
    const Buffers bounds{words, words, chunks_of(count_), ElementType::i16, Operator::max};
    return {{Collective::allreduce, bounds, 0}};
  }
  const Buffers integers{own().data(), scratch_.carried.data(), grid_.elements_of(count_),
                         grid_.type(), Operator::sum};
  return {{Collective::allreduce, integers, 0}};
}

}  // namespace tributary::host::sketch
