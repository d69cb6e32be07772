// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "host/sketch/grid.h"
#include "host/sketch/pending.h"
#include "host/sketch/scratch.h"
#include "host/sketch/vectors.h"
#include "host/step.h"

namespace tributary::host::sketch {

// The steps of a sketched allreduce over a grid: the chunks' bounds, of which the greatest counts,
// and the integers, which are added up.
class GridSteps final : public Steps {
 public:
  // The vectors, the sketch and the scratch outlive this object.
  GridSteps(const Vectors& vectors, GradientSketch& sketch, std::uint32_t rank,
            std::uint32_t world_size, Scratch& scratch);

  std::optional<Step> next() override;
  // Returns the bytes that the rank gives in all steps.
  std::size_t bytes() const;

 private:
  enum class Stage : std::uint8_t { bounds, integers, done };

  std::vector<std::byte>& own();
  void prepare();
  void finish();
  Step step();

  Vectors vectors_;
  Pending pending_;
  Grid grid_;
  Scratch& scratch_;
  std::size_t count_;
  std::optional<Stage> stage_;
};

}  // namespace tributary::host::sketch
