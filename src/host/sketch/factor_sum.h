// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "host/sketch/grid_steps.h"
#include "host/sketch/scratch.h"
#include "host/step.h"

namespace tributary::host::sketch {

// The steps that add up a factor of a matrix over all ranks, in place: as floats if it has 32 bits,
// else sketched on a grid.
class FactorSum final : public Steps {
 public:
  // The feedback of the options says whether rounded_off() is asked for. The factor and the scratch
  // outlive this object, which stays where it is.
  FactorSum(std::span<float> factor, const SketchOptions& options, std::uint32_t rank,
            std::uint32_t world_size, Scratch& scratch);
  FactorSum(const FactorSum&) = delete;
  FactorSum& operator=(const FactorSum&) = delete;

  std::optional<Step> next() override;
  std::size_t bytes() const;
  // Returns by how much less this rank gave than it had, after the last step; empty if nothing is
  // rounded.
  std::span<const float> rounded_off() const { return sketch_.residual(); }

 private:
  std::span<float> factor_;
  GradientSketch sketch_;
  std::optional<GridSteps> on_grid_;
  bool given_ = false;
};

}  // namespace tributary::host::sketch
