// SPDX-License-Identifier: BSD-3-Clause
#include "pipeline.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

struct Times {
  double layers = 0;  // each layer is offered as it comes
  double end = 0;     // all behind the last one
  double colayers = 0;
};

Times times_of(Model model) {
  Times times;
  times.layers = Pipeline(model).run(60);
  model.at_the_end = true;
  times.end = Pipeline(model).run(60);
  model.at_the_end = false;
  model.regroup = 5;
  times.colayers = Pipeline(model).run(60);
  return times;
}

// All in milliseconds: to compute all gradients, what a sum takes by itself, and what all elements
// take.
Model model_of(std::size_t layers, double compute, double sum, double elements) {
  constexpr std::size_t of_a_layer = 1000;
  const auto count = static_cast<double>(layers);
  const auto nanoseconds = [](double ms) { return static_cast<std::int64_t>(ms * 1e6); };
  Model model;
  model.elements.assign(layers, of_a_layer);
  model.compute = nanoseconds(compute / count);
  model.words = nanoseconds(0.2);
  model.sum = nanoseconds(sum);
  model.element = nanoseconds(elements / count / static_cast<double>(of_a_layer));
  return model;
}

TEST(Pipeline, ColayersAreAsFastAsTheBetterOfTwoFixedWays) {
  for (const std::size_t layers : {4u, 64u}) {
    for (const double compute : {16.0, 64.0}) {
      for (const double sum : {0.3, 3.0, 15.0}) {
        for (const double elements : {16.0, 64.0}) {
          const auto times = times_of(model_of(layers, compute, sum, elements));
          EXPECT_LT(times.colayers, 1.02 * std::min(times.layers, times.end))
              << layers << " layers, " << compute << ", " << sum << ", " << elements << " ms";
        }
      }
    }
  }
}

TEST(Pipeline, ColayersGainWhereASumCostsMuchByItself) {
  const auto times = times_of(model_of(64, 64, 15, 16));
  EXPECT_LT(times.colayers, 0.93 * times.layers);
  EXPECT_LT(times.colayers, 0.93 * times.end);
}

// All layers become one group, as short sums take long at first. Later nobody sees short sums.
TEST(Pipeline, ColayersFollowANetworkThatBecomesFast) {
  auto model = model_of(16, 64, 60, 16);
  model.regroup = 5;
  Pipeline becomes_fast(model);
  becomes_fast.run(5);
  becomes_fast.set_sum(300'000);
  becomes_fast.run(60);
  model.sum = 300'000;
  EXPECT_LT(becomes_fast.run(60), 1.02 * Pipeline(model).run(60));
}

}  // namespace
}  // namespace tributary::host::test
