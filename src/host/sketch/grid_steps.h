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

// The collectives that make a sketched allreduce over a grid, as all ranks carry them out: the
// chunks' bounds, of which the greatest counts, and the integers, which are added up. Without I/O:
// whoever drives it carries each out before asking for the next.
class GridSteps {
 public:
  // The vectors, the sketch and the scratch outlive this object.
  GridSteps(const Vectors& vectors, GradientSketch& sketch, std::uint32_t rank,
            std::uint32_t world_size, Scratch& scratch);

  // The next one, after the one before was carried out; nothing after the last. The result is there
  // then.
  std::optional<Step> next();
  // One has failed, or the call was refused: those that follow are to be left out, and nothing that
  // the caller gave is looked at any more.
  void give_up() { given_up_ = true; }
  // That the rank gives in all of them.
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
  bool given_up_ = false;
};

}  // namespace tributary::host::sketch
