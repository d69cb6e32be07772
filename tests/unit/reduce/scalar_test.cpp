// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/scalar.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace tributary::reduce {
namespace {

template <typename T>
void expect_wrapping() {
  using Limits = std::numeric_limits<T>;
  EXPECT_EQ(plus<T>(Limits::max(), 1), Limits::min());
  EXPECT_EQ(plus<T>(Limits::min(), -1), Limits::max());
  EXPECT_EQ(plus<T>(-5, 3), -2);
}

TEST(Plus, IntegersWrap) {
  expect_wrapping<std::int8_t>();
  expect_wrapping<std::int16_t>();
  expect_wrapping<std::int32_t>();
  expect_wrapping<std::int64_t>();
}

TEST(Plus, ShortFloatsAreRoundedOnce) {
  EXPECT_EQ(plus(half(1.0f), half(0x1p-10f)).bits, half(1.0f + 0x1p-10f).bits);
  EXPECT_EQ(plus(half(1.0f), half(0x1p-11f)).bits, half(1.0f).bits);  // a tie, to even
  EXPECT_EQ(plus(bfloat16(256.0f), bfloat16(1.0f)).bits, bfloat16(256.0f).bits);
  EXPECT_EQ(plus(1.5f, -0.25f), 1.25f);
  EXPECT_EQ(plus(1.5, 0x1p-50), 1.5 + 0x1p-50);
}

TEST(IsZero, OfEitherSignButNotTheSmallest) {
  EXPECT_TRUE(is_zero(0.0f) && is_zero(-0.0f) && is_zero(half(-0.0f)) && is_zero(bfloat16()));
  EXPECT_TRUE(is_zero(std::int8_t{0}));
  EXPECT_FALSE(is_zero(std::numeric_limits<double>::denorm_min()));
  EXPECT_FALSE(is_zero(half(0x1p-24f)));
  EXPECT_FALSE(is_zero(std::nanf("")));
  EXPECT_FALSE(is_zero(std::int64_t{1} << 40));
}

}  // namespace
}  // namespace tributary::reduce
