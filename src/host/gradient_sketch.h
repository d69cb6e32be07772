// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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
  // That an element takes on its way: 16, 8 or 4; of quantiles 8, 4 or 2; of a matrix's factors
  // also 32, which are floats.
  unsigned bits = 8;
  Rounding rounding = Rounding::stochastic;
  bool feedback = true;    // what was rounded off is kept back, and added to the next vector
  std::uint64_t seed = 0;  // of stochastic rounding: the same one rounds the same way again
};

// A vector that is a matrix, row by row, and goes as two thin ones whose product is near it
// (PowerSGD: Vogels, Karimireddy, Jaggi, NeurIPS 2019). The ranks add up M Q, with a Q of `rank`
// columns that all have, make its columns orthonormal, and add up the transpose of M times these:
// so (rows + columns) x rank elements are given instead of rows x columns. The sum comes as its
// projection on these columns, near the best one of that rank once some calls were of similar
// matrices, since the next call's Q is the last one's result.
struct LowRank {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t rank = 0;  // 1 up to the less of rows and columns
};

// How one of a rank's vectors, a layer's gradient say, goes sketched from call to call.
class GradientSketch {
 public:
  // For vectors of `count` elements.
  explicit GradientSketch(std::size_t count, const SketchOptions& options = {})
      : count_(count), options_(options), residual_(options.feedback ? count : 0) {}
  // For vectors of rows x columns elements; calls refuse it where these cannot be counted. The
  // factors go on a grid, or as floats. With feedback
  // what the projection left out is kept back as well.
  explicit GradientSketch(const LowRank& matrix, const SketchOptions& options = {})
      : GradientSketch(matrix.rows * matrix.columns, options) {
    matrix_ = matrix;
  }

  std::size_t count() const { return count_; }
  const SketchOptions& options() const { return options_; }
  // Nothing unless it was made for one.
  const std::optional<LowRank>& matrix() const { return matrix_; }
  // What is kept back; nothing without feedback.
  std::span<const float> residual() const { return residual_; }
  // Calls that succeeded.
  std::uint64_t rounds() const { return rounds_; }

 private:
  friend class host::sketch::Pending;

  std::size_t count_;
  SketchOptions options_;
  std::optional<LowRank> matrix_;
  std::vector<float> residual_;
  std::vector<float> basis_;  // Q of the next call, column by column; empty before the first
  std::uint64_t rounds_ = 0;
};

}  // namespace tributary
