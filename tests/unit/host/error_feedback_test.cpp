// SPDX-License-Identifier: BSD-3-Clause
#include "host/error_feedback.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tributary {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

template <typename T>
SparseVector<T> taken(const std::vector<T>& in, const Selection& selection) {
  ErrorFeedback<T> feedback(in.size());
  return feedback.take(in, selection);
}

TEST(TopK, TakesTheGreatestMagnitudesInTheOrderOfIndices) {
  const auto sent = taken<float>({1, -5, 3, 0.5, 4}, TopK{3});
  EXPECT_EQ(sent.count, 5u);
  EXPECT_THAT(sent.indices, ElementsAre(1, 2, 4));
  EXPECT_THAT(sent.values, ElementsAre(-5, 3, 4));
}

TEST(TopK, OfEqualOnesTakesTheFirst) {
  EXPECT_THAT(taken<std::int32_t>({2, -7, 7, 2, -2, 7}, TopK{4}).indices, ElementsAre(0, 1, 2, 5));
  EXPECT_THAT(taken<std::int32_t>({2, -7, 7, 2, -2, 7}, TopK{2}).indices, ElementsAre(1, 2));
  EXPECT_THAT(taken<std::int32_t>({4, 4, 4, 4}, TopK{3}).indices, ElementsAre(0, 1, 2));
}

TEST(TopK, TakesNoZeros) {
  EXPECT_THAT(taken<double>({0, -0.0, 3, 0}, TopK{3}).indices, ElementsAre(2));
  EXPECT_THAT(taken<double>({1, 2}, TopK{0}).indices, IsEmpty());
  EXPECT_THAT(taken<double>({}, TopK{5}).indices, IsEmpty());
  EXPECT_THAT(taken<double>({1, 2}, TopK{2}).indices, ElementsAre(0, 1));
}

TEST(TopK, TheLeastIntegerHasTheGreatestMagnitude) {
  EXPECT_THAT(taken<std::int8_t>({127, -128, 1}, TopK{1}).indices, ElementsAre(1));
  EXPECT_THAT(taken<std::int64_t>({std::numeric_limits<std::int64_t>::max(),
                                   std::numeric_limits<std::int64_t>::min()},
                                  TopK{1})
                  .indices,
              ElementsAre(1));
}

TEST(TopK, ANaNComesBeforeAll) {
  constexpr auto infinity = std::numeric_limits<float>::infinity();
  constexpr auto nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(taken<float>({infinity, 1, nan}, TopK{1}).indices, ElementsAre(2));
  EXPECT_THAT(taken<float>({-infinity, 1, 2}, TopK{1}).indices, ElementsAre(0));
}

TEST(TopK, OrdersShortFloats) {
  using reduce::bfloat16;
  using reduce::half;
  EXPECT_THAT(taken<half>({half(1), half(-8), half(0x1p-24f)}, TopK{2}).indices, ElementsAre(0, 1));
  EXPECT_THAT(taken<bfloat16>({bfloat16(-3), bfloat16(2)}, TopK{1}).indices, ElementsAre(0));
}

TEST(AtLeast, TakesWhatIsAsGreatOrGreater) {
  EXPECT_THAT(taken<float>({0.5, -1, 0.75, 2}, AtLeast{0.75}).indices, ElementsAre(1, 2, 3));
  EXPECT_THAT(taken<std::int8_t>({-128, 127, 5}, AtLeast{128}).indices, ElementsAre(0));
  EXPECT_THAT(taken<float>({1, 0, -0.0f, 2}, AtLeast{0}).indices, ElementsAre(0, 3));
  EXPECT_THAT(taken<float>({1, std::numeric_limits<float>::quiet_NaN()}, AtLeast{1e30}).indices,
              ElementsAre(1));
}

TEST(ErrorFeedback, KeepsBackWhatWasNotSentAndAddsItToTheNext) {
  ErrorFeedback<float> feedback(3);
  EXPECT_THAT(feedback.take(std::vector<float>{1, 3, 2}, TopK{1}).values, ElementsAre(3));
  EXPECT_THAT(feedback.residual(), ElementsAre(1, 0, 2));
  const auto next = feedback.take(std::vector<float>{0.5, 1, 1}, TopK{1});
  EXPECT_THAT(next.indices, ElementsAre(2));
  EXPECT_THAT(next.values, ElementsAre(3));
  EXPECT_THAT(feedback.residual(), ElementsAre(1.5, 1, 0));
}

TEST(ErrorFeedback, TakesBackWhatDidNotReachTheOthers) {
  ErrorFeedback<double> feedback(4);
  const std::vector<double> in = {1, -2, 0x1p-1074, 4};
  const auto sent = feedback.take(in, AtLeast{2});
  feedback.give_back(sent);
  EXPECT_THAT(feedback.residual(), ElementsAreArray(in));
}

// Wrapping, too.
template <typename T>
void expect_that_no_integer_is_lost(const Selection& selection) {
  constexpr std::size_t count = 50;
  using Unsigned = std::make_unsigned_t<T>;
  std::mt19937_64 random(5);
  ErrorFeedback<T> feedback(count);
  std::vector<Unsigned> given(count);
  std::vector<Unsigned> sent(count);
  for (int call = 0; call < 100; ++call) {
    std::vector<T> in(count);
    for (std::size_t i = 0; i < count; ++i) {
      in[i] = static_cast<T>(random());
      given[i] = static_cast<Unsigned>(given[i] + static_cast<Unsigned>(in[i]));
    }
    const auto now = feedback.take(in, selection);
    for (std::size_t i = 0; i < now.indices.size(); ++i) {
      auto& element = sent[now.indices[i]];
      element = static_cast<Unsigned>(element + static_cast<Unsigned>(now.values[i]));
    }
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(static_cast<Unsigned>(sent[i] + static_cast<Unsigned>(feedback.residual()[i])),
                given[i]);
    }
  }
}

TEST(ErrorFeedback, WhatWasSentAndIsKeptBackAreAllIntegersThatWereGiven) {
  expect_that_no_integer_is_lost<std::int8_t>(TopK{7});
  expect_that_no_integer_is_lost<std::int16_t>(AtLeast{20000});
  expect_that_no_integer_is_lost<std::int32_t>(TopK{1});
  expect_that_no_integer_is_lost<std::int64_t>(AtLeast{0x1p62});
}

// An element is sent with all its bits, or kept back with all its bits.
template <typename T, typename Bits>
void expect_that_no_bit_is_lost(const Selection& selection) {
  constexpr std::size_t count = 64;
  std::mt19937 random(6);
  ErrorFeedback<T> feedback(count);
  for (int call = 0; call < 50; ++call) {
    std::vector<T> in(count);
    std::vector<T> whole(count);
    for (std::size_t i = 0; i < count; ++i) {
      in[i] = T(static_cast<float>(random() % 2000) - 1000.0f);
      whole[i] = reduce::plus(in[i], feedback.residual()[i]);
    }
    const auto sent = feedback.take(in, selection);
    std::vector<T> found(feedback.residual().begin(), feedback.residual().end());
    for (std::size_t i = 0; i < sent.indices.size(); ++i) {
      ASSERT_TRUE(reduce::is_zero(found[sent.indices[i]]));
      found[sent.indices[i]] = sent.values[i];
    }
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(std::bit_cast<Bits>(found[i]), std::bit_cast<Bits>(whole[i]));
    }
  }
}

TEST(ErrorFeedback, FloatsAreSentOrKeptBackAsTheyAre) {
  expect_that_no_bit_is_lost<float, std::uint32_t>(TopK{5});
  expect_that_no_bit_is_lost<double, std::uint64_t>(AtLeast{900});
  expect_that_no_bit_is_lost<reduce::half, std::uint16_t>(TopK{9});
  expect_that_no_bit_is_lost<reduce::bfloat16, std::uint16_t>(AtLeast{700});
}

}  // namespace
}  // namespace tributary
