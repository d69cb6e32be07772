// SPDX-License-Identifier: BSD-3-Clause
#include "host/loose/colayers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::host {
namespace {

using Layers = std::vector<std::size_t>;

// Simulates groups, and returns when the last sum ends.
double end_of(const std::vector<double>& ready_s, const Layers& elements, const SumCost& cost,
              const Layers& ends) {
  double now = 0;
  std::size_t from = 0;
  for (const auto end : ends) {
    double took = cost.fixed_s;
    for (; from < end; ++from) {
      now = std::max(now, ready_s[from]);
      took += cost.element_s * static_cast<double>(elements[from]);
    }
    now += took;
  }
  return now;
}

Layers ends_of(std::uint32_t cuts, std::size_t layers) {
  Layers ends;
  for (std::size_t place = 1; place < layers; ++place) {
    if ((cuts >> (place - 1) & 1) != 0) {
      ends.push_back(place);
    }
  }
  ends.push_back(layers);
  return ends;
}

TEST(Colayers, AreTheFewestThatEndAsSoonAsAnyOthers) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const std::size_t layers = 1 + random() % 8;
    std::vector<double> ready_s;
    Layers elements;
    double now = 0;
    for (std::size_t layer = 0; layer < layers; ++layer) {
      now += static_cast<double>(random() % 10);
      ready_s.push_back(now);
      elements.push_back(1 + random() % 20);
    }
    const SumCost cost{static_cast<double>(random() % 6), static_cast<double>(random() % 3) / 2};
    auto soonest = std::numeric_limits<double>::infinity();
    for (std::uint32_t cuts = 0; cuts < 1u << (layers - 1); ++cuts) {
      soonest = std::min(soonest, end_of(ready_s, elements, cost, ends_of(cuts, layers)));
    }
    auto fewest = layers;
    for (std::uint32_t cuts = 0; cuts < 1u << (layers - 1); ++cuts) {
      const auto ends = ends_of(cuts, layers);
      if (end_of(ready_s, elements, cost, ends) <= 1.01 * soonest) {
        fewest = std::min(fewest, ends.size());
      }
    }
    const auto found = grouped(ready_s, elements, cost);
    EXPECT_LE(end_of(ready_s, elements, cost, found), 1.01 * soonest);
    EXPECT_EQ(found.size(), fewest);
  }
}

TEST(Colayers, AreLargeWhereASumCostsMuchAndSmallWhereItsElementsDo) {
  const std::vector<double> ready_s = {1, 2, 3, 4};
  const Layers elements(4, 10);
  EXPECT_EQ(grouped(ready_s, elements, {100, 0}), Layers{4});
  EXPECT_EQ(grouped(ready_s, elements, {0, 0.09}), (Layers{1, 2, 3, 4}));
  EXPECT_EQ(grouped(ready_s, elements, {0, 0.01}), (Layers{3, 4}));
  EXPECT_EQ(grouped(std::vector<double>(500, 1), Layers(500, 1), {1e-9, 1}).size(), 1u);
}

TEST(Colayers, AreInTheOrderInWhichGradientsCome) {
  const Layers elements(3, 10);
  const std::vector<std::int64_t> ready_ns = {9'000'000'000, 2'000'000'000, 1'000'000'000};
  EXPECT_EQ(groups_of(ready_ns, elements, {3, 0.1}), (Layers{1, 0, 0}));
  EXPECT_EQ(groups_of(ready_ns, elements, {0, 0.5}), (Layers{2, 1, 0}));
}

TEST(Colayers, AreOfferedWhenTheLastOfTheirGradientsIsThere) {
  Colayers colayers(3);
  EXPECT_EQ(colayers.count(), 3u);
  colayers.begin(0);
  EXPECT_EQ(colayers.ready(2, 100), Layers{2});
  EXPECT_EQ(colayers.ready(1, 200), Layers{1});
  EXPECT_FALSE(colayers.is_complete());
  EXPECT_EQ(colayers.ready(0, 900), Layers{0});
  EXPECT_TRUE(colayers.is_complete());
  EXPECT_TRUE(colayers.form({1, 0, 0}, 1));
  EXPECT_FALSE(colayers.form({1, 0, 0}, 1));
  colayers.begin(1);
  EXPECT_EQ(colayers.count(), 2u);
  EXPECT_EQ(colayers.ready(1, 100), Layers{});
  EXPECT_TRUE(colayers.has(1));
  EXPECT_EQ(colayers.ready(2, 200), (Layers{1, 2}));
  EXPECT_EQ(colayers.ready(0, 900), Layers{0});
  EXPECT_EQ(colayers.ready_ns(), (std::vector<std::int64_t>{900, 180, 120}));
}

// In the round in which ranks form them, some may have yet to enter an iteration that others are
// in.
TEST(Colayers, CountFromAnIterationOn) {
  Colayers colayers(2);
  colayers.begin(3);
  colayers.ready(0, 100);
  colayers.ready(1, 200);
  EXPECT_TRUE(colayers.form({0, 0}, 5));
  colayers.begin(4);
  EXPECT_EQ(colayers.ready(1, 100), Layers{1});
  EXPECT_EQ(colayers.ready(0, 200), Layers{0});
  colayers.begin(5);
  EXPECT_EQ(colayers.ready(1, 100), Layers{});
  EXPECT_EQ(colayers.ready(0, 200), (Layers{0, 1}));
}

}  // namespace
}  // namespace tributary::host
