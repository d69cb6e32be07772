// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "world.h"

namespace tributary::host::sketch::test {
namespace {

std::vector<SketchOptions> all_options() {
  std::vector<SketchOptions> all;
  for (const auto rounding : {Rounding::stochastic, Rounding::nearest}) {
    for (const bool feedback : {true, false}) {
      for (const unsigned bits : {16u, 8u, 4u}) {
        all.push_back({SketchKind::grid, bits, rounding, feedback, 5});
      }
      for (const unsigned bits : {8u, 4u, 2u}) {
        all.push_back({SketchKind::quantiles, bits, rounding, feedback, 5});
      }
    }
  }
  return all;
}

TEST(SketchSteps, MakeTheSameBitsInAnyOrder) {
  for (const auto& options : all_options()) {
    for (const std::size_t count : {1, 2, 513, 1500}) {
      const auto vectors = gradients(5, count, count);
      const auto first = World(5, count, options).sum(vectors, 1);
      for (std::uint64_t seed = 2; seed < 5; ++seed) {
        EXPECT_EQ(World(5, count, options).sum(vectors, seed), first);
      }
    }
  }
}

// Each rank's error is at most a unit, which is the same for a chunk on all ranks.
TEST(SketchSteps, SumsAreWithinAUnitOfEachRank) {
  for (const auto& options : all_options()) {
    if (options.kind != SketchKind::grid) {
      continue;
    }
    for (const std::uint32_t ranks : {2u, 3u, 7u}) {
      constexpr std::size_t count = 1200;
      const auto vectors = gradients(ranks, count, ranks);
      const auto sum = World(ranks, count, options).sum(vectors);
      const auto exact = exact_sum(vectors);
      const auto levels = static_cast<float>(Grid::levels_of(options.bits, ranks));
      for (std::size_t i = 0; i < count; ++i) {
        const auto first = i / chunk_elements * chunk_elements;
        float bound = 0;
        for (const auto& one : vectors) {
          bound = std::max(bound,
                           bound_of(one.data() + first, std::min(chunk_elements, count - first)));
        }
        const double share = options.rounding == Rounding::nearest ? 0.5 : 1;
        ASSERT_LE(std::fabs(sum[i] - exact[i]), share * ranks * bound / levels * 1.001);
      }
    }
  }
}

// The sums and the residuals together are the inputs, for every rank and every round.
TEST(SketchSteps, NothingIsLostWithFeedback) {
  for (const auto& options : all_options()) {
    if (!options.feedback) {
      continue;
    }
    constexpr std::size_t count = 700;
    constexpr std::size_t ranks = 3;
    World world(ranks, count, options);
    std::vector<double> given(count);
    std::vector<double> came(count);
    for (std::uint64_t round = 0; round < 20; ++round) {
      const auto vectors = gradients(ranks, count, round);
      const auto sum = world.sum(vectors, round);
      const auto exact = exact_sum(vectors);
      for (std::size_t i = 0; i < count; ++i) {
        given[i] += sum[i];
        came[i] += exact[i];
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      double kept = 0;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        kept += world.sketch(rank).residual()[i];
      }
      ASSERT_NEAR(given[i] + kept, came[i], 1e-3) << i;
    }
    EXPECT_EQ(world.sketch(0).rounds(), 20u);
  }
}

const std::vector<std::size_t> layers_of_many_lengths = {3, 0, 700, 512, 1, 5, 1025};

// Scales each layer by another power of two, so that units differ.
Vector with_layers_of_many_sizes(Vector all) {
  std::size_t first = 0;
  for (std::size_t layer = 0; layer < layers_of_many_lengths.size(); ++layer) {
    for (std::size_t i = 0; i < layers_of_many_lengths[layer]; ++i) {
      all[first + i] = std::ldexp(all[first + i], layer % 2 == 0 ? 20 : -20);
    }
    first += layers_of_many_lengths[layer];
  }
  return all;
}

std::vector<Vector> part_of(const std::vector<Vector>& all, std::size_t first, std::size_t count) {
  std::vector<Vector> parts;
  for (const auto& one : all) {
    const auto begin = one.begin() + static_cast<std::ptrdiff_t>(first);
    parts.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(count));
  }
  return parts;
}

std::vector<Vector> gradients_of_layers(std::size_t ranks, std::uint64_t seed) {
  const auto& layers = layers_of_many_lengths;
  const auto count = std::accumulate(layers.begin(), layers.end(), std::size_t{0});
  auto vectors = gradients(ranks, count, seed);
  std::ranges::transform(vectors, vectors.begin(), with_layers_of_many_sizes);
  return vectors;
}

// Nothing but the chances of stochastic rounding depends on what else is in the vector.
TEST(SketchSteps, LayersOfOneSketchAreAddedAsByASketchEach) {
  for (const bool feedback : {true, false}) {
    for (const unsigned bits : {16u, 8u, 4u}) {
      const SketchOptions options{SketchKind::grid, bits, Rounding::nearest, feedback, 0};
      World together(3, layers_of_many_lengths, options);
      std::vector<World> apart;
      for (const auto count : layers_of_many_lengths) {
        apart.emplace_back(3, count, options);
      }
      for (std::uint64_t round = 0; round < 3; ++round) {
        const auto vectors = gradients_of_layers(3, round);
        const auto sum = together.sum(vectors);
        Vector expected;
        for (auto& layer : apart) {
          const auto part = part_of(vectors, expected.size(), layer.sketch(0).count());
          const auto of_layer = layer.sum(part);
          expected.insert(expected.end(), of_layer.begin(), of_layer.end());
        }
        ASSERT_EQ(sum, expected) << bits << " bits, round " << round;
      }
    }
  }
}

TEST(SketchSteps, WhatIsNotFiniteStaysInItsLayer) {
  World world(3, layers_of_many_lengths, {});
  auto vectors = gradients_of_layers(3, 1);
  vectors[1][703] = infinity;  // the first element of the fourth layer
  const auto sum = world.sum(vectors);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    ASSERT_EQ(std::isnan(sum[i]), 703 <= i && i < 703 + 512) << i;
  }
}

TEST(SketchSteps, LayersDrawApart) {
  const std::vector<std::size_t> twins(2, chunk_elements);
  World world(2, twins, {SketchKind::grid, 4, Rounding::stochastic, false, 0});
  auto vectors = gradients(2, chunk_elements, 1);
  for (auto& one : vectors) {
    one.resize(2 * chunk_elements);
    std::copy_n(one.begin(), chunk_elements, one.begin() + chunk_elements);
  }
  const auto sum = world.sum(vectors);
  EXPECT_FALSE(std::equal(sum.begin(), sum.begin() + chunk_elements, sum.begin() + chunk_elements));
}

// Compares the mean over rounds of the same vector: with feedback it has no bias, and without
// feedback rounding to nearest has one.
TEST(SketchSteps, FeedbackMendsTheBiasOfNearest) {
  constexpr std::size_t count = 512;
  const auto vectors = gradients(4, count, 1);
  const auto exact = exact_sum(vectors);
  const auto error = [&](bool feedback) {
    World world(4, count, {SketchKind::grid, 4, Rounding::nearest, feedback, 0});
    std::vector<double> sum(count);
    constexpr int rounds = 100;
    for (int round = 0; round < rounds; ++round) {
      const auto one = world.sum(vectors);
      std::transform(sum.begin(), sum.end(), one.begin(), sum.begin(), std::plus<>());
    }
    double squares = 0;
    for (std::size_t i = 0; i < count; ++i) {
      squares += std::pow(sum[i] / rounds - exact[i], 2);
    }
    return std::sqrt(squares / count);
  };
  EXPECT_LT(error(true), error(false) / 20);
}

TEST(SketchSteps, WhatIsNotFiniteIsNanOnAllRanksAndIsNotKept) {
  for (const auto& options : all_options()) {
    constexpr std::size_t count = 1100;
    World world(3, count, options);
    auto vectors = gradients(3, count, 1);
    world.sum(vectors);
    vectors[1][600] = infinity;
    const auto sum = world.sum(vectors);
    const bool is_grid = options.kind == SketchKind::grid;
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(std::isnan(sum[i]), !is_grid || i / chunk_elements == 1) << i;
    }
    vectors[1][600] = 0.5f;
    const auto after = world.sum(vectors);
    EXPECT_TRUE(std::all_of(after.begin(), after.end(), [](float x) { return std::isfinite(x); }));
  }
}

// Tests zeros, constants, single elements, and the greatest and smallest numbers.
TEST(SketchSteps, OddVectorsHaveTheirSums) {
  for (const auto& options : all_options()) {
    for (const auto& vector : odd_vectors()) {
      const auto sum = World(2, vector.size(), options).sum({vector, vector});
      const bool too_great = vector[0] == greatest;
      EXPECT_EQ(std::all_of(sum.begin(), sum.end(), [](float x) { return std::isfinite(x); }),
                !too_great);
      if (vector == Vector(vector.size(), 0.0f)) {
        EXPECT_EQ(sum, vector);
      }
    }
  }
}

// A rank that gives up, or refuses the call, has the same number of steps, of the same shape, and
// keeps all in its residual.
TEST(SketchSteps, WhoGivesUpHasTheSameStepsAndKeepsAllBack) {
  constexpr std::size_t count = 1100;
  const auto in = gradient(count, 3);
  for (int failing = 0; failing < 3; ++failing) {
    GradientSketch sketch(count);
    Scratch scratch;
    Vector out(count, 7.0f);
    GridSteps steps({in, out}, sketch, 0, 4, scratch);
    if (failing == 0) {
      steps.give_up();
    }
    const auto bounds = steps.next();
    ASSERT_TRUE(bounds);
    EXPECT_EQ(bounds->call.buffers.count, 3u);
    EXPECT_EQ(bounds->call.buffers.type, wire::ElementType::i16);
    if (failing == 1) {
      steps.give_up();
    }
    const auto integers = steps.next();
    ASSERT_TRUE(integers);
    EXPECT_EQ(integers->call.buffers.count, count);
    EXPECT_EQ(integers->call.buffers.type, wire::ElementType::i8);
    if (failing == 2) {
      steps.give_up();
    }
    EXPECT_FALSE(steps.next());
    EXPECT_EQ(out, Vector(count, 7.0f));
    EXPECT_EQ(Vector(sketch.residual().begin(), sketch.residual().end()),
              failing == 0 ? Vector(count) : in);
    EXPECT_EQ(sketch.rounds(), 0u);
  }
}

// The call ends, whatever comes back from the network.
template <typename Steps>
void expect_to_end(const SketchOptions& options, std::mt19937_64& random) {
  constexpr std::size_t count = 1025;
  const auto in = gradient(count, 3);
  GradientSketch sketch(count, options);
  Scratch scratch;
  Vector out(count);
  Steps steps({in, out}, sketch, 1, 3, scratch);
  while (const auto step = steps.next()) {
    const auto& buffers = step->call.buffers;
    std::generate_n(buffers.out, buffers.bytes(), [&] { return static_cast<std::byte>(random()); });
  }
  EXPECT_EQ(sketch.rounds(), 1u);
}

TEST(SketchSteps, EndWhateverComes) {
  std::mt19937_64 random(1);
  for (const auto& options : all_options()) {
    for (int i = 0; i < 20; ++i) {
      options.kind == SketchKind::grid ? expect_to_end<GridSteps>(options, random)
                                       : expect_to_end<QuantileSteps>(options, random);
    }
  }
}

TEST(SketchSteps, TakeAsManyBytesAsTheySay) {
  const auto bytes_of = [](auto steps) {
    steps.give_up();
    std::size_t bytes = 0;
    while (const auto step = steps.next()) {
      bytes += step->call.buffers.bytes();
    }
    EXPECT_EQ(bytes, steps.bytes());
    return bytes;
  };
  Vector vector(1025);
  Scratch scratch;
  const auto grid = [&](unsigned bits) {
    GradientSketch sketch(1025, {SketchKind::grid, bits});
    return bytes_of(GridSteps({vector, vector}, sketch, 0, 4, scratch));
  };
  EXPECT_EQ(grid(16), 6u + 2050);
  EXPECT_EQ(grid(8), 6u + 1025);
  EXPECT_EQ(grid(4), 6u + 513);
  GradientSketch sketch(1025, {SketchKind::quantiles, 2});
  EXPECT_EQ(bytes_of(QuantileSteps({vector, vector}, sketch, 0, 4, scratch)), 4 * (16u + 257));
}

}  // namespace
}  // namespace tributary::host::sketch::test
