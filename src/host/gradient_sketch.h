// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace tributary {

namespace host::sketch {
class Pending;
}

// Says what a sketch sends for each element.
enum class SketchKind : std::uint8_t {
  grid,       // steps of a grid that all ranks share: the network adds them up as they are
  quantiles,  // codes of the rank's own quantiles: every rank decodes those of all
};

enum class Rounding : std::uint8_t {
  stochastic,  // up or down, so that the mean is right
  nearest,
};

struct SketchOptions {
  SketchKind kind = SketchKind::grid;
  // An element takes so many bits on its way: 16, 8 or 4; for quantiles 8, 4 or 2; for a matrix's
  // factors also 32, which are floats.
  unsigned bits = 8;
  Rounding rounding = Rounding::stochastic;
  bool feedback = true;    // what was rounded off is kept back, and added to the next vector
  std::uint64_t seed = 0;  // of stochastic rounding: the same seed rounds the same way again
};

// A vector that is a matrix, row by row, and is sent as two thin matrices whose product is near it
// (PowerSGD: Vogels, Karimireddy, Jaggi, NeurIPS 2019). The ranks add up M Q, where all have the
// same Q of `rank` columns, make the sum's columns orthonormal, and add up the transpose of M times
// these: so (rows + columns) x rank elements are sent instead of rows x columns. The result is the
// sum's projection on these columns. It comes near the best matrix of that rank after some calls
// with similar matrices, since each call takes the last one's result as its Q.
struct LowRank {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t rank = 0;  // from 1 to the lesser of rows and columns
};

// Says how one of a rank's vectors, say a layer's gradient, is sketched, and keeps what goes on
// from call to call.
class GradientSketch {
 public:
  // It serves vectors of `count` elements.
  explicit GradientSketch(std::size_t count, const SketchOptions& options = {})
      : GradientSketch(std::span(&count, 1), options) {}
  // It serves vectors of layers, which have so many elements each: on a grid no chunk has elements
  // of two of them, so that neither the units of a layer nor whether it is finite depend on another
  // one. By quantiles each layer needs a sketch of its own.
  explicit GradientSketch(std::span<const std::size_t> layers, const SketchOptions& options = {})
      : layers_(layers.begin(), layers.end()),
        count_(std::accumulate(layers.begin(), layers.end(), std::size_t{0})),
        options_(options),
        residual_(options.feedback ? count_ : 0) {}
  // It serves vectors of rows x columns elements; calls refuse the sketch if these cannot be
  // counted. The factors are sent as steps of a grid, or as floats. With feedback, what the
  // projection left out is kept back as well.
  explicit GradientSketch(const LowRank& matrix, const SketchOptions& options = {})
      : GradientSketch(matrix.rows * matrix.columns, options) {
    matrix_ = matrix;
  }

  std::size_t count() const { return count_; }
  // Returns the layers that it was made for; otherwise all is one layer.
  std::span<const std::size_t> layers() const { return layers_; }
  const SketchOptions& options() const { return options_; }
  // Returns the matrix that it was made for; nothing if it was made for a plain vector.
  const std::optional<LowRank>& matrix() const { return matrix_; }
  // Returns what is kept back; empty without feedback.
  std::span<const float> residual() const { return residual_; }
  // Returns the number of calls that succeeded.
  std::uint64_t rounds() const { return rounds_; }

 private:
  friend class host::sketch::Pending;

  std::vector<std::size_t> layers_;
  std::size_t count_;
  SketchOptions options_;
  std::optional<LowRank> matrix_;
  std::vector<float> residual_;
  std::vector<float> basis_;  // the next call's Q, column by column; empty before the first
  std::uint64_t rounds_ = 0;
};

}  // namespace tributary
