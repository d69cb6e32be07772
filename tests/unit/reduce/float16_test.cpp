// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/float16.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace tributary::reduce {
namespace {

float value_of_half(std::uint16_t bits) {
  return float_from_half_bits(bits);
}

// The definition of binary16, in double: exact.
double defined_half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(0x400 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(Half, every_finite_pattern_has_its_defined_value_and_comes_back) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    if ((pattern & 0x7c00) == 0x7c00) {
      continue;
    }
    ASSERT_EQ(static_cast<double>(value_of_half(pattern)), defined_half(pattern));
    ASSERT_EQ(half_bits_from_float(value_of_half(pattern)), pattern);
  }
}

// Between two neighbours values below the middle are rounded down, those above it up, and the
// middle to the even one.
TEST(Half, rounds_to_nearest_even) {
  for (std::uint16_t low = 0; low < 0x7bff; ++low) {
    const auto high = static_cast<std::uint16_t>(low + 1);
    const float middle = (value_of_half(low) + value_of_half(high)) / 2;  // exact in f32
    ASSERT_EQ(half_bits_from_float(std::nextafter(middle, 0.0F)), low);
    ASSERT_EQ(half_bits_from_float(std::nextafter(middle, INFINITY)), high);
    ASSERT_EQ(half_bits_from_float(middle), (low & 1) == 0 ? low : high);
    ASSERT_EQ(half_bits_from_float(-middle), 0x8000 | ((low & 1) == 0 ? low : high));
  }
}

TEST(Half, overflows_to_infinity_and_underflows_to_zero) {
  EXPECT_EQ(half_bits_from_float(65504.0F), 0x7bff);
  EXPECT_EQ(half_bits_from_float(std::nextafter(65520.0F, 0.0F)), 0x7bff);
  EXPECT_EQ(half_bits_from_float(65520.0F), 0x7c00);
  EXPECT_EQ(half_bits_from_float(std::numeric_limits<float>::max()), 0x7c00);
  EXPECT_EQ(half_bits_from_float(-INFINITY), 0xfc00);
  EXPECT_EQ(half_bits_from_float(0x1p-25F), 0x0000);
  EXPECT_EQ(half_bits_from_float(-std::numeric_limits<float>::denorm_min()), 0x8000);
  EXPECT_EQ(value_of_half(0x7c00), INFINITY);
}

TEST(Half, nan_stays_nan) {
  for (std::uint32_t fraction = 1; fraction < 0x400; ++fraction) {
    const auto bits = static_cast<std::uint16_t>(0x7c00 | fraction);
    ASSERT_TRUE(std::isnan(value_of_half(bits)));
    ASSERT_EQ(half_bits_from_float(value_of_half(bits)), bits | 0x200);
  }
  // a payload that lies wholly in the bits that are cut off
  EXPECT_EQ(half_bits_from_float(std::bit_cast<float>(0xff800001U)), 0xfe00);
}

TEST(Bfloat16, is_the_upper_half_of_a_float) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    const float value = float_from_bfloat16_bits(pattern);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(value), bits << 16);
    const bool is_nan = (bits & 0x7fff) > 0x7f80;
    ASSERT_EQ(bfloat16_bits_from_float(value), is_nan ? (pattern | 0x40) : pattern);
  }
}

TEST(Bfloat16, rounds_to_nearest_even) {
  for (std::uint32_t low = 0; low < 0x7f80; ++low) {
    const std::uint32_t middle = (low << 16) | 0x8000;
    const std::uint32_t even = (low & 1) == 0 ? low : low + 1;
    ASSERT_EQ(bfloat16_bits_from_float(std::bit_cast<float>(middle - 1)), low);
    ASSERT_EQ(bfloat16_bits_from_float(std::bit_cast<float>(middle)), even);
    ASSERT_EQ(bfloat16_bits_from_float(std::bit_cast<float>(middle + 1)), low + 1);
  }
  EXPECT_EQ(bfloat16_bits_from_float(std::numeric_limits<float>::max()), 0x7f80);
}

TEST(Bfloat16, nan_stays_nan) {
  EXPECT_EQ(bfloat16_bits_from_float(std::bit_cast<float>(0x7f800001U)), 0x7fc0);
  EXPECT_EQ(bfloat16_bits_from_float(std::bit_cast<float>(0xffffffffU)), 0xffff);
}

}  // namespace
}  // namespace tributary::reduce
