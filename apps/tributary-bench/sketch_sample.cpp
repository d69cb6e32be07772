// SPDX-License-Identifier: BSD-3-Clause
#include "sketch_sample.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "sample_elements.h"

namespace tributary::bench {
namespace {

// Sums of fewer elements may come out as nearly nothing, of which any error is a large part.
constexpr std::size_t elements_of_a_sound_matrix = 100;
// Of fewer, the results may all be alike.
constexpr std::size_t elements_to_differ = 100;

// Gradients are exponentially distributed, of either sign.
float gradient(std::uint32_t rank, std::size_t index) {
  constexpr float greatest = 17;  // -log(2^-24) is less
  const auto bits = bits_of(rank, index);
  const float magnitude = -std::log1p(-random_fraction(bits)) / greatest;
  return (bits & 1) != 0 ? -magnitude : magnitude;
}

// The ranks give these as matrices: products of factors, which are made once. The columns of the
// right one are those of all ranks.
class Matrices {
 public:
  Matrices(const LowRank& shape, std::uint32_t world_size) : shape_(shape) {
    constexpr std::uint32_t everybody = 0xffffffff;
    right_ = factor(everybody, shape.columns);
    for (std::uint32_t rank = 0; rank < world_size; ++rank) {
      left_.push_back(factor(rank, shape.rows));
    }
  }
  float operator()(std::uint32_t rank, std::size_t index) const {
    const auto row = index / shape_.columns;
    const auto column = index % shape_.columns;
    float sum = 0;
    for (std::size_t k = 0; k < shape_.rank; ++k) {
      sum += left_[rank][k * shape_.rows + row] * right_[k * shape_.columns + column];
    }
    return sum;
  }

 private:
  std::vector<float> factor(std::uint32_t rank, std::size_t length) const {
    std::vector<float> elements(shape_.rank * length);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      elements[i] = gradient(rank, i);
    }
    return elements;
  }

  LowRank shape_;
  std::vector<float> right_;
  std::vector<std::vector<float>> left_;  // by rank
};

class RoundedSample : public Sample {
 public:
  // Calls element(rank, index) for what ranks give. Iterations are rotated by `rotated_by`
  // elements.
  template <typename Element>
  RoundedSample(const Problem& problem, std::size_t rotated_by, const Element& element)
      : rotated_by_(rotated_by), input_(problem.count), sum_(problem.count) {
    for (std::size_t i = 0; i < problem.count; ++i) {
      input_[i] = element(problem.rank, i);
      for (std::uint32_t rank = 0; rank < problem.world_size; ++rank) {
        sum_[i] += static_cast<double>(element(rank, i));
      }
    }
  }

  void fill(std::size_t iteration, void* buffer) const override {
    for_rotated(iteration, [&](std::size_t position, std::size_t i) {
      std::memcpy(static_cast<std::byte*>(buffer) + position * sizeof(float), &input_[i],
                  sizeof(float));
    });
  }
  std::uint64_t wrong_inputs(std::size_t iteration, const void* input) const override {
    std::uint64_t wrong = 0;
    for_rotated(iteration, [&](std::size_t position, std::size_t i) {
      wrong += at(input, position) == input_[i] ? 0 : 1;
    });
    return wrong;
  }
  double relative_error(std::size_t iteration, const void* result) const override {
    double squares = 0;
    double of_sum = 0;
    for_rotated(iteration, [&](std::size_t position, std::size_t i) {
      squares += std::pow(static_cast<double>(at(result, position)) - sum_[i], 2);
      of_sum += std::pow(sum_[i], 2);
    });
    return of_sum > 0 ? std::sqrt(squares / of_sum) : 0;
  }

 protected:
  static float at(const void* elements, std::size_t position) {
    float value;
    std::memcpy(&value, static_cast<const std::byte*>(elements) + position * sizeof value,
                sizeof value);
    return value;
  }
  // Calls f(position in a buffer, index into the sample).
  template <typename F>
  void for_rotated(std::size_t iteration, F f) const {
    for (std::size_t position = 0; position < input_.size(); ++position) {
      f(position, (position + iteration * rotated_by_) % input_.size());
    }
  }
  // With few bits the slack would let pass what is no result: zeros, or what a rank gave itself.
  bool is_unwritten(std::size_t iteration, const void* result) const {
    if (count() < elements_to_differ) {
      return false;
    }
    bool is_flat = true;
    for (std::size_t position = 1; position < count() && is_flat; ++position) {
      is_flat = at(result, position) == at(result, 0);
    }
    return is_flat || wrong_inputs(iteration, result) == 0;
  }
  std::size_t count() const { return input_.size(); }
  double sum(std::size_t i) const { return sum_[i]; }

 private:
  std::size_t rotated_by_;
  std::vector<float> input_;
  std::vector<double> sum_;
};

class SketchSample final : public RoundedSample {
 public:
  SketchSample(const Problem& problem, double slack)
      : RoundedSample(problem, 1, gradient),
        slack_(problem.world_size == 1 ? 0 : slack * problem.world_size) {}

  std::uint64_t wrong_results(std::size_t iteration, const void* result,
                              const std::vector<PartialResult>& /*partial*/) const override {
    if (slack_ != 0 && is_unwritten(iteration, result)) {
      return count();
    }
    std::uint64_t wrong = 0;
    for_rotated(iteration, [&](std::size_t position, std::size_t i) {
      const double off = std::fabs(static_cast<double>(at(result, position)) - sum(i));
      wrong += off <= slack_ ? 0 : 1;  // a NaN is wrong, too
    });
    return wrong;
  }

 private:
  double slack_;
};

class MatrixSample final : public RoundedSample {
 public:
  MatrixSample(const Problem& problem, const LowRank& shape, double slack)
      : RoundedSample(problem, shape.columns, Matrices(shape, problem.world_size)),
        slack_(problem.world_size == 1 ? 0 : slack) {}

  std::uint64_t wrong_results(std::size_t iteration, const void* result,
                              const std::vector<PartialResult>& /*partial*/) const override {
    const bool is_right = relative_error(iteration, result) <= slack_ &&
                          (slack_ == 0 || !is_unwritten(iteration, result));
    return is_right ? 0 : count();
  }

 private:
  double slack_;
};

double levels_of(const SketchOptions& sketch, const Problem& problem) {
  return std::floor((std::exp2(sketch.bits - 1) - 1) / static_cast<double>(problem.world_size));
}

}  // namespace

double sketch_slack(const SketchOptions& sketch, const Problem& problem) {
  constexpr double rounding_of_floats = 1e-5;
  if (sketch.kind == SketchKind::quantiles) {
    return 2 + rounding_of_floats;
  }
  const double units = sketch.rounding == Rounding::nearest ? 0.5 : 1;
  return units / levels_of(sketch, problem) + rounding_of_floats;
}

double matrix_slack(const SketchOptions& sketch, const Problem& problem) {
  constexpr double rounding_of_floats = 1e-4;
  if (sketch.bits == 32) {
    return rounding_of_floats;
  }
  const auto levels = levels_of(sketch, problem);
  const double noise = std::sqrt(problem.world_size) / levels;
  const bool is_sound = problem.count >= elements_of_a_sound_matrix ? levels >= 4 : noise <= 0.1;
  return std::min(1000 * noise, is_sound ? 0.95 : 30) + rounding_of_floats;
}

std::unique_ptr<Sample> make_sketch_sample(const Problem& problem, double slack) {
  return std::make_unique<SketchSample>(problem, slack);
}

std::unique_ptr<Sample> make_matrix_sample(const Problem& problem, const LowRank& shape,
                                           double slack) {
  return std::make_unique<MatrixSample>(problem, shape, slack);
}

}  // namespace tributary::bench
