// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "elements.h"
#include "protocols/flare/engine/aggregation.h"

namespace tributary::flare {
namespace {

using wire::ElementType;
using Floats = std::vector<float>;

// Returns the sum of `span` children from `first` on, in the order of Figure 9.
float sum_of(const Floats& values, std::size_t first, std::size_t span) {
  if (span == 1) {
    return values[first];
  }
  const auto middle = first + span / 2;
  const auto lower = sum_of(values, first, span / 2);
  return middle < values.size() ? lower + sum_of(values, middle, span / 2) : lower;
}

// Returns values of very different sizes, so that no two orders give the same bits.
Floats random_values(std::size_t count) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> mantissa(-1, 1);
  Floats values(count);
  for (auto& value : values) {
    value = std::ldexp(mantissa(random), static_cast<int>(random() % 20));
  }
  return values;
}

class TreeAggregationTest : public ::testing::Test {
 protected:
  // Returns the sum if the children's values come in that order.
  float add_up(const Floats& values, const std::vector<std::size_t>& order) {
    const Shape shape(block_of(ElementType::f32, 1));
    std::vector<Accumulator> buffers(values.size());
    TreeAggregation tree(buffers, shape, memory);
    std::uint64_t arrived = 0;
    for (const auto child : order) {
      auto packet = packet_of(pool, Floats{values[child]});
      EXPECT_TRUE(tree.add(child, arrived, packet));
      arrived |= std::uint64_t{1} << child;
    }
    EXPECT_EQ(memory.in_use(), 1u) << "what was combined was let go of";
    return elements_of<float>(*buffers.front().take(shape, memory)).front();
  }

  HeapPacketPool pool{256, 512};
  WorkingMemory memory{pool};
};

TEST_F(TreeAggregationTest, TheSumIsTheSameBitsInEveryOrder) {
  for (std::size_t children = 1; children <= 6; ++children) {
    const auto values = random_values(children);
    const auto expected = sum_of(values, 0, std::bit_ceil(children));
    std::vector<std::size_t> order(children);
    std::iota(order.begin(), order.end(), 0);
    do {
      ASSERT_EQ(add_up(values, order), expected) << children;
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST_F(TreeAggregationTest, ALargeSwitchAddsInTheSameOrder) {
  std::mt19937 random(2);
  for (const std::size_t children : {7u, 8u, 33u, 63u, 64u}) {
    const auto values = random_values(children);
    const auto expected = sum_of(values, 0, std::bit_ceil(children));
    std::vector<std::size_t> order(children);
    std::iota(order.begin(), order.end(), 0);
    for (int i = 0; i < 20; ++i) {
      std::shuffle(order.begin(), order.end(), random);
      ASSERT_EQ(add_up(values, order), expected) << children;
    }
  }
}

// A single buffer would not pass the tests above.
TEST_F(TreeAggregationTest, ASingleBufferAddsInTheOrderOfArrival) {
  const Shape shape(block_of(ElementType::f32, 1));
  const Floats values{1e8f, 1.5f, -1e8f};
  for (const auto& order : {std::vector<std::size_t>{0, 1, 2}, {0, 2, 1}}) {
    Accumulator buffer;
    SingleBuffer single(buffer, shape, memory);
    float expected = 0;
    for (const auto child : order) {
      auto packet = packet_of(pool, Floats{values[child]});
      EXPECT_TRUE(single.add(packet));
      expected += values[child];
    }
    EXPECT_EQ(elements_of<float>(*buffer.take(shape, memory)).front(), expected);
  }
}

TEST_F(TreeAggregationTest, TwoBuffersAreCombinedOnlyWhenBothAreThere) {
  const Shape shape(block_of(ElementType::f32, 1));
  std::vector<Accumulator> buffers(5);
  TreeAggregation tree(buffers, shape, memory);
  std::uint64_t arrived = 0;
  const auto add = [&](std::size_t child) {
    auto packet = packet_of(pool, Floats{1});
    EXPECT_TRUE(tree.add(child, arrived, packet));
    arrived |= std::uint64_t{1} << child;
    return memory.in_use();
  };
  EXPECT_EQ(add(1), 1u);
  EXPECT_EQ(add(2), 2u) << "its sibling is 3";
  EXPECT_EQ(add(4), 3u) << "has no sibling, and waits for the sum of all others";
  EXPECT_EQ(add(0), 3u) << "with 1";
  EXPECT_EQ(add(3), 1u) << "with 2, then that with 0, then that with 4";
  EXPECT_EQ(elements_of<float>(*buffers.front().take(shape, memory)), Floats{5});
}

TEST_F(TreeAggregationTest, HalvesKeepTheirPrecisionOnTheWay) {
  const Shape shape(block_of(ElementType::f16, 3));
  std::vector<Accumulator> buffers(3);
  TreeAggregation tree(buffers, shape, memory);
  std::uint64_t arrived = 0;
  const std::uint16_t values[] = {0x3c00, 0x3c00, 0x6800};  // 1 + 1 + 2048
  for (const std::size_t child : {2u, 0u, 1u}) {
    auto packet = packet_of(pool, std::vector<std::uint16_t>(3, values[child]));
    EXPECT_TRUE(tree.add(child, arrived, packet));
    arrived |= std::uint64_t{1} << child;
  }
  EXPECT_EQ(elements_of<std::uint16_t>(*buffers.front().take(shape, memory)),
            std::vector<std::uint16_t>(3, 0x6801));
  EXPECT_EQ(pool.outstanding(), 0u);
}

}  // namespace
}  // namespace tributary::flare
