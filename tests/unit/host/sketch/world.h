// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <deque>
#include <functional>
#include <random>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "host/element_types.h"
#include "host/sketch/grid_steps.h"
#include "host/sketch/low_rank_steps.h"
#include "host/sketch/quantile_steps.h"
#include "plain.h"
#include "reduce/combine.h"
#include "unit/host/values.h"

// Whole worlds of ranks that add up sketches, and plain reductions in random order that carry
// these.
namespace tributary::host::sketch::test {

using Vector = std::vector<float>;

// Reduces one call; `calls` are by rank. Only the factors of a matrix may be floats, whose sum
// depends on the order.
inline void bring_together(const std::vector<Call>& calls, std::mt19937_64& random, bool floats) {
  const auto& shape = calls.front().buffers;
  std::vector<host::test::Elements> parts;
  for (const auto& call : calls) {
    ASSERT_EQ(call.collective, Collective::allreduce);
    ASSERT_EQ(call.buffers.count, shape.count);
    ASSERT_EQ(call.buffers.type, shape.type);
    ASSERT_EQ(call.buffers.op, shape.op);
    parts.emplace_back(call.buffers.in, call.buffers.in + call.buffers.bytes());
  }
  std::shuffle(parts.begin(), parts.end(), random);
  host::test::with_type(shape.type, [&]<typename T>(T) {
    if constexpr (host::test::is_exact_type<T> || std::is_same_v<T, float>) {
      EXPECT_TRUE(floats || host::test::is_exact_type<T>) << "what is rounded has no place here";
      for (std::size_t part = 1; part < parts.size(); ++part) {
        for (std::size_t i = 0; i < shape.count; ++i) {
          const auto sum = load<T>(parts[0].data(), i);
          store(parts[0].data(), i, reduce::combine(shape.op, sum, load<T>(parts[part].data(), i)));
        }
      }
    } else {
      ADD_FAILURE() << "no sketch has such elements";
    }
  });
  for (const auto& call : calls) {
    std::copy(parts[0].begin(), parts[0].end(), call.buffers.out);
  }
}

// Ranks with a sketch each of vectors of the same length.
class World {
 public:
  World(std::size_t ranks, std::size_t count, const SketchOptions& options)
      : scratch_(ranks), sketches_(ranks, GradientSketch(count, options)) {}
  World(std::size_t ranks, const std::vector<std::size_t>& layers, const SketchOptions& options)
      : scratch_(ranks), sketches_(ranks, GradientSketch(layers, options)) {}
  World(std::size_t ranks, const LowRank& matrix, const SketchOptions& options)
      : scratch_(ranks), sketches_(ranks, GradientSketch(matrix, options)) {}

  // Returns the result, after a check that all ranks have the same bits.
  Vector sum(std::vector<Vector> vectors, std::uint64_t seed = 1) {
    if (sketches_[0].matrix()) {
      run<LowRankSteps>(vectors, seed);
    } else if (sketches_[0].options().kind == SketchKind::grid) {
      run<GridSteps>(vectors, seed);
    } else {
      run<QuantileSteps>(vectors, seed);
    }
    for (const auto& one : vectors) {
      EXPECT_TRUE(std::equal(one.begin(), one.end(), vectors[0].begin(), [](float a, float b) {
        return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
      })) << "all ranks have the same bits";
    }
    return vectors[0];
  }
  GradientSketch& sketch(std::size_t rank) { return sketches_[rank]; }

 private:
  // Adds up in place.
  template <typename Steps>
  void run(std::vector<Vector>& vectors, std::uint64_t seed) {
    const auto ranks = static_cast<std::uint32_t>(vectors.size());
    std::mt19937_64 random(seed);
    std::deque<Steps> steps;  // which stay where they are
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      steps.emplace_back(Vectors{vectors[rank], vectors[rank]}, sketches_[rank], rank, ranks,
                         scratch_[rank]);
    }
    for (;;) {
      std::vector<Call> calls;
      for (auto& of_rank : steps) {
        if (const auto step = of_rank.next()) {
          calls.push_back(step->call);
        }
      }
      if (calls.empty()) {
        return;
      }
      ASSERT_EQ(calls.size(), ranks) << "all have as many steps";
      bring_together(calls, random, sketches_[0].options().bits == 32);
    }
  }

  std::vector<Scratch> scratch_;
  std::vector<GradientSketch> sketches_;
};

inline std::vector<Vector> gradients(std::size_t ranks, std::size_t count, std::uint64_t seed) {
  std::vector<Vector> vectors;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    vectors.push_back(gradient(count, seed * 1000 + rank));
  }
  return vectors;
}

inline std::vector<double> exact_sum(const std::vector<Vector>& vectors) {
  std::vector<double> sum(vectors[0].size());
  for (const auto& one : vectors) {
    std::transform(sum.begin(), sum.end(), one.begin(), sum.begin(), std::plus<>());
  }
  return sum;
}

}  // namespace tributary::host::sketch::test
