// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tributary {

namespace host::sketch {
class Pending;
}

// What the elements of a sketch are.
enum class SketchKind : std::uint8_t {
  grid,       // steps of a grid that all ranks share: the network adds them up as they are
  quantiles,  // codes of the rank's own quantiles: all ranks get those of all, and decode them
};

enum class Rounding : std::uint8_t {
  stochastic,  // up or down, so that the mean is right
  nearest,
};

struct SketchOptions {
  SketchKind kind = SketchKind::grid;
  unsigned bits = 8;  // that an element takes on its way: 16, 8 or 4; of quantiles 8, 4 or 2
  Rounding rounding = Rounding::stochastic;
  bool feedback = true;    // what was rounded off is kept back, and added to the next vector
  std::uint64_t seed = 0;  // of stochastic rounding: the same one rounds the same way again
};

// How one of a rank's vectors, a layer's gradient say, goes sketched from call to call.
class GradientSketch {
 public:
  // For vectors of `count` elements.
  explicit GradientSketch(std::size_t count, const SketchOptions& options = {})
      : count_(count), options_(options), residual_(options.feedback ? count : 0) {}

  std::size_t count() const { return count_; }
  const SketchOptions& options() const { return options_; }
  // What is kept back; nothing without feedback.
  std::span<const float> residual() const { return residual_; }
  // Calls that succeeded.
  std::uint64_t rounds() const { return rounds_; }

 private:
  friend class host::sketch::Pending;

  std::size_t count_;
  SketchOptions options_;
  std::vector<float> residual_;
  std::uint64_t rounds_ = 0;
};

}  // namespace tributary
