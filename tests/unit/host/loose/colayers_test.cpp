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

TEST(Colayers, AreOfferedWhenTheLastOfTheirGradientsIsThere) {
  Colayers colayers({10, 10, 10});
  EXPECT_EQ(colayers.count(), 3u);
  colayers.begin();
  EXPECT_EQ(colayers.ready(2, 1.0), Layers{2});
  EXPECT_EQ(colayers.ready(1, 2.0), Layers{1});
  EXPECT_FALSE(colayers.is_complete());
  EXPECT_EQ(colayers.ready(0, 9.0), Layers{0});
  EXPECT_TRUE(colayers.is_complete());
  EXPECT_TRUE(colayers.form({3, 0.1}));  // 2 and 1 while 0 is computed
  EXPECT_EQ(colayers.count(), 2u);
  EXPECT_FALSE(colayers.form({3, 0.1}));
  colayers.begin();
  EXPECT_EQ(colayers.ready(1, 1.0), Layers{});
  EXPECT_TRUE(colayers.has(1));
  EXPECT_EQ(colayers.ready(2, 2.0), (Layers{1, 2}));
  EXPECT_EQ(colayers.ready(0, 9.0), Layers{0});
}

TEST(Colayers, TakeTheLineOfWhatMostSumsTook) {
  SumTimes times;
  EXPECT_EQ(times.cost().element_s, 0);
  times.add(100, 0.5);
  EXPECT_DOUBLE_EQ(times.cost().element_s, 0.005);
  for (int i = 0; i < 50; ++i) {
    const auto elements = static_cast<std::size_t>(100 + 50 * (i % 4));
    const double held_up = i % 7 == 0 ? 5 : 0;
    times.add(elements, 0.3 + 0.002 * static_cast<double>(elements) + held_up);
  }
  EXPECT_NEAR(times.cost().fixed_s, 0.3, 0.001);
  EXPECT_NEAR(times.cost().element_s, 0.002, 0.00001);
}

}  // namespace
}  // namespace tributary::host
