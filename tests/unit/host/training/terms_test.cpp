// SPDX-License-Identifier: BSD-3-Clause
#include "host/training/terms.h"

#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::host {
namespace {

using Layers = std::vector<std::size_t>;

std::string refusal(const GradientExchangeOptions& options, const Layers& layers = {4},
                    std::size_t parameters = 4) {
  const auto checked = check(options, layers, parameters);
  return checked ? "" : checked.error().message;
}

TEST(Terms, OptionsThatMakeNoSenseAreRefused) {
  EXPECT_EQ(refusal({}), "");
  EXPECT_NE(refusal({}, {}), "");
  EXPECT_NE(refusal({}, {3, 0}), "");
  GradientExchangeOptions options;
  options.proportion = 0;
  EXPECT_NE(refusal(options).find("proportion"), std::string::npos);
  options.proportion = 1.5;
  EXPECT_NE(refusal(options).find("proportion"), std::string::npos);
  options = {};
  options.catch_up = 0;
  EXPECT_NE(refusal(options).find("catch_up"), std::string::npos);
  options = {};
  options.pause = {};
  EXPECT_NE(refusal(options).find("pause"), std::string::npos);
}

TEST(Terms, WhoMayGetParametersOfOthersHasSome) {
  GradientExchangeOptions options;
  EXPECT_EQ(refusal(options, {4}, 0), "");
  options.synchrony = Synchrony::asp;
  EXPECT_NE(refusal(options, {4}, 0).find("parameters"), std::string::npos);
  options.synchrony = Synchrony::ssp;
  EXPECT_EQ(refusal(options, {4}, 0), "");
  options.stale = Stale::drop;
  EXPECT_NE(refusal(options, {4}, 0).find("parameters"), std::string::npos);
}

TEST(Terms, BspIsWithoutStaleness) {
  const auto rule = terms_of({}, Layers{4, 5}, 9).rule();
  EXPECT_TRUE(rule.together);
  EXPECT_TRUE(rule.bounded);
  EXPECT_FALSE(rule.drops);
  EXPECT_EQ(rule.staleness, 0u);
  EXPECT_EQ(rule.proportion, 2u);
}

TEST(Terms, TellWhenColayersAreFormed) {
  GradientExchangeOptions options;
  options.regroup = 7;
  EXPECT_EQ(terms_of(options, Layers{4}, 4).rule().regroup, 7u);
}

TEST(Terms, TellOfTheSketch) {
  GradientExchangeOptions options;
  EXPECT_FALSE(terms_of(options, Layers{4}, 4).sketch());
  options.sketch = SketchOptions{SketchKind::quantiles, 4, Rounding::nearest, false, 1ull << 60};
  const auto told = terms_of(options, Layers{4}, 4).sketch();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->kind, SketchKind::quantiles);
  EXPECT_EQ(told->bits, 4u);
  EXPECT_EQ(told->rounding, Rounding::nearest);
  EXPECT_FALSE(told->feedback);
  EXPECT_EQ(told->seed, 1ull << 60);
}

TEST(Terms, AProportionIsAWholeNumberOfLayers) {
  GradientExchangeOptions options;
  options.synchrony = Synchrony::ssp;
  options.proportion = 0.6;
  EXPECT_EQ(terms_of(options, Layers(10, 1), 0).rule().proportion, 6u);
  options.proportion = 0.01;
  EXPECT_EQ(terms_of(options, Layers(10, 1), 0).rule().proportion, 1u);
  options.proportion = 0.14;  // in doubles, 50 times that is more than 7
  EXPECT_EQ(terms_of(options, Layers(50, 1), 0).rule().proportion, 7u);
}

TEST(Terms, FitWithTheSameLayersAndAsManyParameters) {
  const auto terms = terms_of({}, Layers{4, 5}, 9);
  GradientExchangeOptions other;
  other.synchrony = Synchrony::asp;
  EXPECT_TRUE(terms.fit(terms_of(other, Layers{4, 5}, 9)));
  EXPECT_FALSE(terms.fit(terms_of({}, Layers{5, 4}, 9)));
  EXPECT_FALSE(terms.fit(terms_of({}, Layers{4}, 9)));
  EXPECT_FALSE(terms.fit(terms_of({}, Layers{4, 5}, 8)));
}

}  // namespace
}  // namespace tributary::host
