// SPDX-License-Identifier: BSD-3-Clause
#include "host/sketch/low_rank_steps.h"

#include <algorithm>
#include <limits>

#include "host/sketch/check.h"

namespace tributary::host::sketch {
namespace {

// A call that is refused has as many steps as one that is not; it does not know how long those of
// others are, and takes no room for them.
LowRank possible(LowRank shape) {
  if (!check_size(shape)) {
    return {1, 1, 1};
  }
  const auto most = std::min(shape.rows, shape.columns);
  if (shape.rank == 0 || shape.rank > most) {
    shape.rank = std::min<std::size_t>(1, most);
  }
  return shape;
}

}  // namespace

LowRankSteps::LowRankSteps(const Vectors& vectors, GradientSketch& sketch, std::uint32_t rank,
                           std::uint32_t world_size, Scratch& scratch)
    : vectors_(vectors),
      pending_(vectors.in, sketch, rank),
      shape_(possible(*sketch.matrix())),
      rank_(rank),
      world_size_(world_size),
      scratch_(scratch) {
  scratch_.left.resize(left_elements(shape_));
  scratch_.right.resize(right_elements(shape_));
}

// Each factor of each round is rounded by other chances. What the left one lost is in what the
// projection leaves out.
SketchOptions LowRankSteps::options_of(Stage stage) const {
  auto options = pending_.options();
  options.seed = mixed(mixed(options.seed ^ pending_.round()) ^ static_cast<std::uint64_t>(stage));
  options.feedback = options.feedback && stage == Stage::right;
  return options;
}

std::size_t LowRankSteps::bytes() const {
  const auto of = [this](std::span<float> factor, Stage stage) {
    return FactorSum(factor, options_of(stage), rank_, world_size_, scratch_).bytes();
  };
  return of(scratch_.left, Stage::left) + of(scratch_.right, Stage::right);
}

std::optional<Step> LowRankSteps::next() {
  while (stage_ != Stage::done) {
    if (sum_ && given_up()) {
      sum_->give_up();
    }
    if (auto step = sum_ ? sum_->next() : std::nullopt) {
      return step;
    }
    if (stage_ == Stage::before) {
      begin_left();
    } else if (stage_ == Stage::left) {
      begin_right();
    } else {
      finish();
    }
  }
  return std::nullopt;
}

void LowRankSteps::begin_left() {
  stage_ = Stage::left;
  if (!given_up()) {
    pending_.begin();
    auto& basis = pending_.basis();
    basis.resize(right_elements(shape_));
    draw_missing(basis, shape_.columns, mixed(pending_.options().seed) ^ pending_.round());
    times(scratch_.left, pending_.elements(), basis, shape_);
  }
  sum_.emplace(scratch_.left, options_of(stage_), rank_, world_size_, scratch_);
}

void LowRankSteps::begin_right() {
  stage_ = Stage::right;
  if (!given_up()) {
    orthonormalise(scratch_.left, shape_.rows);
    transposed_times(scratch_.right, pending_.elements(), scratch_.left, shape_);
    if (pending_.options().feedback) {
      scratch_.given = scratch_.right;
    }
  }
  sum_.emplace(scratch_.right, options_of(stage_), rank_, world_size_, scratch_);
}

// The sums are written last: the result may have its place where the vector was given.
void LowRankSteps::finish() {
  stage_ = Stage::done;
  if (given_up()) {
    return;
  }
  auto& basis = pending_.basis();
  if (are_finite(scratch_.left) && are_finite(scratch_.right)) {
    keep_back();
    expand(vectors_.out, scratch_.left, scratch_.right, shape_);
    basis = scratch_.right;
    normalise(basis, shape_.columns);
  } else {
    std::fill(pending_.kept().begin(), pending_.kept().end(), 0.0f);
    std::fill(vectors_.out.begin(), vectors_.out.end(), std::numeric_limits<float>::quiet_NaN());
    basis.clear();
  }
  pending_.end();
}

void LowRankSteps::keep_back() {
  if (!pending_.options().feedback) {
    return;
  }
  const auto rounded_off = sum_->rounded_off();
  auto& given = scratch_.given;
  std::transform(rounded_off.begin(), rounded_off.end(), given.begin(), given.begin(),
                 [](float off, float had) { return had - off; });
  subtract(pending_.kept(), scratch_.left, given, shape_);
}

}  // namespace tributary::host::sketch
