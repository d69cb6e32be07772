// SPDX-License-Identifier: BSD-3-Clause
// Tests ranks that add up matrices by their factors.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/sketch/low_rank_steps.h"
#include "matrices.h"
#include "world.h"

namespace tributary::host::sketch::test {
namespace {

constexpr std::size_t world_size = 4;
constexpr LowRank shape = {90, 70, 3};
constexpr std::size_t elements = shape.rows * shape.columns;

SketchOptions options_of(unsigned bits, bool feedback = false) {
  return {SketchKind::grid, bits, Rounding::stochastic, feedback, 5};
}

std::vector<Vector> matrices_of_rank(std::size_t rank, double decay = 1) {
  std::vector<Vector> all;
  for (std::size_t of = 0; of < world_size; ++of) {
    all.push_back(matrix_of_rank(shape.rows, shape.columns, rank, of, decay));
  }
  return all;
}

double norm(const std::vector<double>& of) {
  double squares = 0;
  for (const double x : of) {
    squares += x * x;
  }
  return std::sqrt(squares);
}

template <typename Sum>
double distance(const Sum& sum, const std::vector<double>& exact) {
  std::vector<double> off(exact.size());
  std::transform(sum.begin(), sum.end(), exact.begin(), off.begin(),
                 [](auto a, double b) { return static_cast<double>(a) - b; });
  return norm(off);
}

// Each rank's matrix has rank 1, so the rank of the sum is the number of ranks.
TEST(LowRankSketch, ASumOfThatRankIsExact) {
  const auto vectors = matrices_of_rank(1);
  const auto exact = exact_sum(vectors);
  for (const std::size_t rank : {4, 5, 9}) {
    World floats(world_size, LowRank{shape.rows, shape.columns, rank}, options_of(32));
    EXPECT_LT(distance(floats.sum(vectors), exact), 1e-6 * norm(exact)) << rank;
    World integers(world_size, LowRank{shape.rows, shape.columns, rank}, options_of(16));
    EXPECT_LT(distance(integers.sum(vectors), exact), 2e-3 * norm(exact)) << rank;
  }
  World too_few(world_size, LowRank{shape.rows, shape.columns, 3}, options_of(32));
  EXPECT_GT(distance(too_few.sum(vectors), exact), 0.1 * norm(exact));
}

// After some calls the result is that of the singular value decomposition.
TEST(LowRankSketch, CallsOfTheSameMatricesComeToTheBestOfThatRank) {
  const auto vectors = matrices_of_rank(40, 0.8);
  const auto exact = exact_sum(vectors);
  const auto best = least_error(singular_values(exact, shape.columns), shape.rank);
  World world(world_size, shape, options_of(32));
  const auto first = distance(world.sum(vectors), exact);
  double last = first;
  for (std::uint64_t call = 0; call < 50; ++call) {
    last = distance(world.sum(vectors), exact);
    EXPECT_GT(last, best * 0.9999);
  }
  EXPECT_LT(first, 2 * best) << "and is not far from it at once";
  EXPECT_LT(last, 1.001 * best);
  EXPECT_LT(last, first);
}

TEST(LowRankSketch, SumsOfIntegersAreTheSameBitsInAnyOrder) {
  const auto vectors = matrices_of_rank(9);
  for (const unsigned bits : {16u, 8u, 4u}) {
    const auto twice = [&](std::uint64_t seed) {
      World world(world_size, shape, options_of(bits, true));
      world.sum(vectors, seed);
      return world.sum(vectors, seed + 1);
    };
    const auto first = twice(1);
    EXPECT_EQ(twice(7), first);
    EXPECT_EQ(twice(9), first);
  }
}

// The sums and the residuals together are the inputs of all ranks.
TEST(LowRankSketch, NothingIsLostWithFeedback) {
  for (const unsigned bits : {32u, 16u, 8u, 4u}) {
    World world(world_size, shape, options_of(bits, true));
    std::vector<double> given(elements);
    std::vector<double> came(elements);
    for (std::size_t round = 0; round < 12; ++round) {
      std::vector<Vector> vectors;
      for (std::size_t rank = 0; rank < world_size; ++rank) {
        vectors.push_back(normal_matrix(shape.rows, shape.columns, 100 * round + rank));
      }
      const auto sum = world.sum(vectors, round);
      const auto exact = exact_sum(vectors);
      for (std::size_t i = 0; i < elements; ++i) {
        given[i] += static_cast<double>(sum[i]);
        came[i] += exact[i];
      }
    }
    for (std::size_t rank = 0; rank < world_size; ++rank) {
      const auto kept = world.sketch(rank).residual();
      for (std::size_t i = 0; i < elements; ++i) {
        given[i] += static_cast<double>(kept[i]);
      }
    }
    EXPECT_LT(distance(given, came), 1e-4 * norm(came)) << bits;
    EXPECT_EQ(world.sketch(0).rounds(), 12u);
  }
}

// Later calls bring what a call leaves out: the error of the mean of many calls is the residual,
// which does not grow, divided by their number.
TEST(LowRankSketch, FeedbackMakesTheErrorOfTheMeanVanish) {
  const auto vectors = matrices_of_rank(20, 0.9);
  const auto exact = exact_sum(vectors);
  const auto error_of_mean = [&](bool feedback, unsigned bits, int calls) {
    World world(world_size, shape, options_of(bits, feedback));
    std::vector<double> mean(elements);
    for (int call = 0; call < calls; ++call) {
      const auto sum = world.sum(vectors);
      for (std::size_t i = 0; i < elements; ++i) {
        mean[i] += static_cast<double>(sum[i]) / calls;
      }
    }
    return distance(mean, exact) / norm(exact);
  };
  for (const unsigned bits : {32u, 16u, 8u}) {
    EXPECT_GT(error_of_mean(false, bits, 100), 0.3) << bits;
    EXPECT_LT(error_of_mean(true, bits, 100), 0.1) << bits;
    EXPECT_LT(error_of_mean(true, bits, 400), 0.03) << bits;
  }
}

// After a call that failed on one rank only, that rank has another basis. This costs exactness, but
// all ranks still have the same result; with the next call the basis is the same again.
TEST(LowRankSketch, ARankThatMissedACallComesToTheSameBits) {
  const auto vectors = matrices_of_rank(2);
  const auto exact = exact_sum(vectors);
  World world(world_size, LowRank{shape.rows, shape.columns, 8}, options_of(32));
  world.sum(vectors);
  world.sketch(2) = GradientSketch(LowRank{shape.rows, shape.columns, 8}, options_of(32));
  EXPECT_LT(distance(world.sum(vectors), exact), norm(exact));
  EXPECT_LT(distance(world.sum(vectors), exact), 1e-6 * norm(exact));
}

TEST(LowRankSketch, WhatIsNotFiniteIsNanOnAllRanksAndIsNotKept) {
  for (const unsigned bits : {32u, 16u, 4u}) {
    for (const float odd : {nan, infinity, -infinity}) {
      World world(world_size, shape, options_of(bits, true));
      auto vectors = matrices_of_rank(2);
      world.sum(vectors);
      vectors[1][600] = odd;
      const auto sum = world.sum(vectors);
      EXPECT_TRUE(std::all_of(sum.begin(), sum.end(), [](float x) { return std::isnan(x); }));
      for (std::size_t rank = 0; rank < world_size; ++rank) {
        const auto kept = world.sketch(rank).residual();
        EXPECT_EQ(Vector(kept.begin(), kept.end()), Vector(elements));
      }
      vectors[1][600] = 0.5f;
      EXPECT_TRUE(are_finite(world.sum(vectors)));
    }
  }
}

// Tests zeros, which give no basis, constants, and matrices of a row or a column.
TEST(LowRankSketch, OddMatricesHaveTheirSums) {
  for (const unsigned bits : {32u, 16u}) {
    World zeros(2, shape, options_of(bits, true));
    EXPECT_EQ(zeros.sum({Vector(elements), Vector(elements)}), Vector(elements));
    const auto after = zeros.sum({Vector(elements, 2.5f), Vector(elements, 2.5f)});
    for (const float x : after) {
      ASSERT_NEAR(x, 5, 0.02) << bits;
    }
    for (const auto& thin : {LowRank{1, 1, 1}, LowRank{1, 40, 1}, LowRank{40, 1, 1}}) {
      const auto one = normal_matrix(thin.rows, thin.columns, 3);
      World world(2, thin, options_of(bits));
      const auto exact = exact_sum({one, one});
      EXPECT_LT(distance(world.sum({one, one}), exact), 2e-3 * norm(exact));
    }
  }
}

// A rank that gives up, or refuses the call, has the same number of steps, of the same shape, and
// keeps all in its residual.
TEST(LowRankSketch, WhoGivesUpHasTheSameStepsAndKeepsAllBack) {
  const auto in = normal_matrix(shape.rows, shape.columns, 3);
  for (const unsigned bits : {32u, 8u}) {
    const int steps_of_all = bits == 32 ? 2 : 4;
    for (int failing = 0; failing <= steps_of_all; ++failing) {
      GradientSketch sketch(shape, options_of(bits, true));
      Scratch scratch;
      Vector out(elements, 7.0f);
      LowRankSteps steps({in, out}, sketch, 0, world_size, scratch);
      std::size_t bytes = 0;
      for (int step = 0; step < steps_of_all; ++step) {
        if (step == failing) {
          steps.give_up();
        }
        const auto next = steps.next();
        ASSERT_TRUE(next);
        bytes += next->call.buffers.bytes();
        const auto factor = (step < steps_of_all / 2 ? shape.rows : shape.columns) * shape.rank;
        const bool is_bounds = bits != 32 && step % 2 == 0;
        EXPECT_EQ(next->call.buffers.count, is_bounds ? chunks_of(factor) : factor);
      }
      if (failing == steps_of_all) {
        steps.give_up();
      }
      EXPECT_FALSE(steps.next());
      EXPECT_EQ(bytes, steps.bytes());
      EXPECT_EQ(out, Vector(elements, 7.0f));
      EXPECT_EQ(Vector(sketch.residual().begin(), sketch.residual().end()),
                failing == 0 ? Vector(elements) : in);
      EXPECT_EQ(sketch.rounds(), 0u);
    }
  }
}

TEST(LowRankSketch, ARefusedCallHasAsManyStepsAndTakesLittleRoom) {
  constexpr auto half = std::size_t{1} << 63;
  for (const auto& [matrix, count] : {std::pair{LowRank{300, 200, 1u << 30}, std::size_t{300}},
                                      std::pair{LowRank{300, 200, 0}, std::size_t{300}},
                                      std::pair{LowRank{half + 1, 2, 1}, std::size_t{1}}}) {
    GradientSketch sketch(matrix, options_of(32));
    Scratch scratch;
    Vector vector(sketch.count());
    LowRankSteps steps({vector, vector}, sketch, 0, world_size, scratch);
    steps.give_up();
    const auto first = steps.next();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->call.buffers.count, count);
    EXPECT_TRUE(steps.next());
    EXPECT_FALSE(steps.next());
  }
}

// The call ends, whatever comes back from the network.
TEST(LowRankSketch, EndsWhateverComes) {
  std::mt19937_64 random(1);
  const auto in = normal_matrix(shape.rows, shape.columns, 3);
  for (const unsigned bits : {32u, 16u, 8u, 4u}) {
    for (int i = 0; i < 20; ++i) {
      GradientSketch sketch(shape, options_of(bits, i % 2 == 0));
      Scratch scratch;
      Vector out(elements);
      LowRankSteps steps({in, out}, sketch, 1, 3, scratch);
      while (const auto step = steps.next()) {
        const auto& buffers = step->call.buffers;
        std::generate_n(buffers.out, buffers.bytes(),
                        [&] { return static_cast<std::byte>(random()); });
      }
      EXPECT_EQ(sketch.rounds(), 1u);
    }
  }
}

}  // namespace
}  // namespace tributary::host::sketch::test
