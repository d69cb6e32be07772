// SPDX-License-Identifier: BSD-3-Clause
#include "handler_sample.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "support/handlers.h"

namespace tributary::bench {
namespace {

using wire::ElementType;

constexpr std::uint32_t ranks = 3;
constexpr std::size_t count = 50;

class HandlerSampleTest : public testing::Test {
 protected:
  static Problem problem(std::uint32_t rank) {
    return {ElementType::i32, wire::handler_operator(5), count, rank, ranks, 1, 16};
  }
  static std::vector<std::int32_t> input(std::uint32_t rank, std::size_t iteration) {
    std::vector<std::int32_t> values(count);
    Sample::make(problem(rank))->fill(iteration, values.data());
    return values;
  }
  // Computes the total without the handler, which subtracts one for each combination.
  static std::vector<std::int32_t> total(std::size_t iteration) {
    std::vector<std::int32_t> sum(count, -static_cast<std::int32_t>(ranks - 1));
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const auto values = input(rank, iteration);
      for (std::size_t i = 0; i < count; ++i) {
        sum[i] += values[i];
      }
    }
    return sum;
  }

  test::LoadedHandler loaded_{5, std::make_unique<test::OneLess>()};
};

TEST_F(HandlerSampleTest, WhatTheHandlerMakesIsRight) {
  const auto sample = Sample::make(problem(0));
  auto sum = total(3);
  EXPECT_EQ(sample->wrong_results(3, sum.data()), 0u);
  ++sum[7];
  EXPECT_EQ(sample->wrong_results(3, sum.data()), 1u);
}

TEST_F(HandlerSampleTest, NoticesAnotherIterationAndAnotherRank) {
  const auto sample = Sample::make(problem(1));
  const auto sum = total(3);
  EXPECT_GT(sample->wrong_results(4, sum.data()), count / 4);
  EXPECT_EQ(sample->wrong_inputs(3, input(1, 3).data()), 0u);
  EXPECT_GT(sample->wrong_inputs(3, input(2, 3).data()), count / 4);
}

// Pairs fall within a packet, as a merge of lists needs it.
TEST_F(HandlerSampleTest, PairsFall) {
  auto of = problem(0);
  of.type = ElementType::i32_i32;
  std::vector<std::int32_t> values(2 * count);
  Sample::make(of)->fill(0, values.data());
  for (std::size_t i = 1; i < count; ++i) {
    EXPECT_EQ(values[2 * i] < values[2 * i - 2], i % 16 != 0) << i;
  }
}

// The elements are f32, whose zeros may have either sign.
TEST_F(HandlerSampleTest, ZerosOfOpaqueTypesAreAlike) {
  auto of = problem(0);
  of.type = ElementType::opaque8;
  std::vector<std::uint32_t> lanes(2 * count);
  const auto sample = Sample::make(of);
  sample->fill(0, lanes.data());
  for (auto& lane : lanes) {
    lane |= (lane & 0x7fffffffu) == 0 ? 0x80000000u : 0;
  }
  EXPECT_EQ(sample->wrong_inputs(0, lanes.data()), 0u);
}

}  // namespace
}  // namespace tributary::bench
