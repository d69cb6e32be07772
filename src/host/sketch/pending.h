// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "host/gradient_sketch.h"
#include "host/sketch/chance.h"

namespace tributary::host::sketch {

// One round of a sketch that has begun: what of the rank's vector, and of what was kept back, is
// still to be given.
class Pending {
 public:
  // Precondition: `in` has as many elements as the sketch. Both outlive this object.
  Pending(std::span<const float> in, GradientSketch& sketch, std::uint32_t rank)
      : in_(in), sketch_(sketch), chance_(chance_of(sketch.options_.seed, rank, sketch.rounds_)) {}

  const SketchOptions& options() const { return sketch_.options_; }
  // Returns the chances of the elements behind so many; null where nothing is left to chance.
  const Chance* chance(std::size_t passed = 0) {
    chance_.passed = passed;
    return options().rounding == Rounding::stochastic ? &chance_ : nullptr;
  }
  // From now on all is kept back, until it has reached the others.
  void begin() {
    for (std::size_t i = 0; i < kept().size(); ++i) {
      kept()[i] += in_[i];
    }
  }
  // Returns what is to be given. Precondition: it has begun.
  std::span<const float> elements() const {
    return options().feedback ? std::span<const float>(sketch_.residual_) : in_;
  }
  // Returns what is kept back, from which what was given is to be taken away; empty without
  // feedback.
  std::span<float> kept() { return sketch_.residual_; }
  // Returns the basis of a matrix, which is kept for the next round.
  std::vector<float>& basis() { return sketch_.basis_; }
  std::uint64_t round() const { return sketch_.rounds_; }
  void end() { ++sketch_.rounds_; }
  // Ends a round of a single rank, which need not begin: nothing is rounded, so the sum is the
  // rank's own vector, and what was kept back before.
  void end_alone(std::span<float> out) {
    for (std::size_t i = 0; i < in_.size(); ++i) {
      out[i] = i < kept().size() && kept()[i] != 0 ? in_[i] + kept()[i] : in_[i];
    }
    std::ranges::fill(kept(), 0.0f);
    end();
  }

 private:
  std::span<const float> in_;
  GradientSketch& sketch_;
  Chance chance_;
};

}  // namespace tributary::host::sketch
