// SPDX-License-Identifier: BSD-3-Clause
#include "host/sketch/grid_steps.h"

#include <cstdint>
#include <numeric>
#include <span>

#include "host/sketch/chance.h"
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
  return (chunks_ + tags()) * sizeof scratch_.bounds[0] + integer_bytes_;
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
    tag();
  } else if (agreed_ = !layers_differ(); agreed_) {
    quantise();
  } else {
    give_up();
  }
}

Result<void> GridSteps::outcome() const {
  if (agreed_) {
    return {};
  }
  return fail(Error::Code::mismatch,
              "the sketches of the ranks have other layers; give them the same on all ranks");
}

// As many chunks, and as many elements, may be of other layers. A hash of their lengths goes along
// in two parts, each beside its negative: the greatest of all ranks are negatives of each other
// only where all ranks have the same.
void GridSteps::tag() {
  if (tags() == 0) {
    return;
  }
  const auto hash = std::accumulate(
      layers_.begin(), layers_.end(), std::uint64_t{0},
      [](std::uint64_t before, std::size_t count) { return mixed(before ^ count); });
  for (const unsigned part : {0u, 1u}) {
    const auto word = static_cast<std::int16_t>(hash >> (15 * part) & 0x7fff);
    scratch_.bounds[chunks_ + 2 * part] = word;
    scratch_.bounds[chunks_ + 2 * part + 1] = static_cast<std::int16_t>(-word);
  }
}

bool GridSteps::layers_differ() const {
  const auto greatest = std::span(scratch_.bounds).subspan(chunks_, tags());
  for (std::size_t i = 0; i < greatest.size(); i += 2) {
    if (greatest[i] != -greatest[i + 1]) {
      return true;
    }
  }
  return false;
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
  scratch_.bounds.resize(chunks_ + tags());
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
    const Buffers bounds{words, words, chunks_ + tags(), ElementType::i16, Operator::max};
    return {{Collective::allreduce, bounds, 0}};
  }
  const auto elements = integer_bytes_ / wire::element_bytes(grid_.type());
  const Buffers integers{own().data(), scratch_.carried.data(), elements, grid_.type(),
                         Operator::sum};
  return {{Collective::allreduce, integers, 0}, false, agreed_};
}

}  // namespace tributary::host::sketch
