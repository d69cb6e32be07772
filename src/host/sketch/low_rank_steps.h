// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "host/sketch/factor_sum.h"
#include "host/sketch/factors.h"
#include "host/sketch/pending.h"
#include "host/sketch/scratch.h"
#include "host/sketch/vectors.h"
#include "host/step.h"

namespace tributary::host::sketch {

// The steps of a sketched allreduce of a matrix: the sum of its left factors, then that of the
// right ones (PowerSGD, algorithm 1). All that ranks have to agree on follows from these sums, by
// arithmetic that is the same on all of them.
class LowRankSteps final : public Steps {
 public:
  // Precondition: the sketch is of a matrix. The vectors, the sketch and the scratch outlive this
  // object.
  LowRankSteps(const Vectors& vectors, GradientSketch& sketch, std::uint32_t rank,
               std::uint32_t world_size, Scratch& scratch);

  std::optional<Step> next() override;
  // Returns the bytes that the rank gives in all steps.
  std::size_t bytes() const;

 private:
  enum class Stage : std::uint8_t { before, left, right, done };

  SketchOptions options_of(Stage stage) const;
  void begin_left();
  void begin_right();
  void finish();
  void keep_back();

  Vectors vectors_;
  Pending pending_;
  LowRank shape_;
  std::uint32_t rank_;
  std::uint32_t world_size_;
  Scratch& scratch_;
  std::optional<FactorSum> sum_;
  Stage stage_ = Stage::before;
};

}  // namespace tributary::host::sketch
