// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/float8.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reduce/kernel.h"
#include "support/simd_targets.h"
#include "wire/element.h"

namespace tributary::reduce {
namespace {

using tributary::test::for_each_target;

// The definitions of the OFP8 specification.
struct E4m3Format {
  using Type = float8_e4m3;
  static constexpr wire::ElementType type = wire::ElementType::f8e4m3;
  static constexpr int fraction_bits = 3;
  static constexpr int bias = 7;
  static constexpr unsigned greatest = 0x7e;
  static constexpr double greatest_value = 448;
};
struct E5m2Format {
  using Type = float8_e5m2;
  static constexpr wire::ElementType type = wire::ElementType::f8e5m2;
  static constexpr int fraction_bits = 2;
  static constexpr int bias = 15;
  static constexpr unsigned greatest = 0x7b;
  static constexpr double greatest_value = 57344;
};

template <class Format>
double defined(unsigned bits) {
  const int exponent = static_cast<int>((bits & 0x7f) >> Format::fraction_bits);
  const int fraction = static_cast<int>(bits & ((1u << Format::fraction_bits) - 1));
  const int hidden = exponent == 0 ? 0 : 1 << Format::fraction_bits;
  const int scale = std::max(exponent, 1) - Format::bias - Format::fraction_bits;
  const double magnitude = std::ldexp(hidden + fraction, scale);
  return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

template <class Format>
float value_of(unsigned bits) {
  typename Format::Type element;
  element.bits = static_cast<std::uint8_t>(bits);
  return static_cast<float>(element);
}

template <class Format>
unsigned bits_of(float value) {
  return typename Format::Type(value).bits;
}

template <class Format>
class Float8 : public testing::Test {};
using Formats = testing::Types<E4m3Format, E5m2Format>;
TYPED_TEST_SUITE(Float8, Formats);

TYPED_TEST(Float8, every_finite_pattern_has_its_defined_value_and_comes_back) {
  EXPECT_EQ(defined<TypeParam>(TypeParam::greatest), TypeParam::greatest_value);
  for (unsigned bits = 0; bits < 0x100; ++bits) {
    if ((bits & 0x7f) > TypeParam::greatest) {
      continue;
    }
    const float value = value_of<TypeParam>(bits);
    ASSERT_EQ(static_cast<double>(value), defined<TypeParam>(bits)) << bits;
    ASSERT_EQ(std::signbit(value), (bits & 0x80) != 0) << bits;
    ASSERT_EQ(bits_of<TypeParam>(value), bits);
  }
}

// Between two neighbours values below the middle are rounded down, those above it up, and the
// middle to the even one.
TYPED_TEST(Float8, rounds_to_nearest_even) {
  for (unsigned low = 0; low < TypeParam::greatest; ++low) {
    const unsigned high = low + 1;
    const float middle = (value_of<TypeParam>(low) + value_of<TypeParam>(high)) / 2;  // exact
    const unsigned even = low % 2 == 0 ? low : high;
    ASSERT_EQ(bits_of<TypeParam>(std::nextafter(middle, 0.0F)), low);
    ASSERT_EQ(bits_of<TypeParam>(std::nextafter(middle, INFINITY)), high);
    ASSERT_EQ(bits_of<TypeParam>(middle), even);
    ASSERT_EQ(bits_of<TypeParam>(-middle), 0x80 | even);
  }
}

// The conversion is from f32 in one step; with binary16 in between this would be a tie, and round
// to the even one below.
TYPED_TEST(Float8, rounds_once) {
  const float middle = (value_of<TypeParam>(0x40) + value_of<TypeParam>(0x41)) / 2;
  ASSERT_EQ(bits_of<TypeParam>(middle), 0x40U);
  EXPECT_EQ(bits_of<TypeParam>(middle * (1 + 0x1p-20F)), 0x41U);
}

TYPED_TEST(Float8, saturates_and_underflows_to_zero) {
  const auto greatest = static_cast<float>(TypeParam::greatest_value);
  for (const float value : {greatest, std::nextafter(greatest, INFINITY), greatest * 1.2F,
                            greatest * 2, std::numeric_limits<float>::max()}) {
    EXPECT_EQ(bits_of<TypeParam>(value), TypeParam::greatest) << value;
    EXPECT_EQ(bits_of<TypeParam>(-value), 0x80 | TypeParam::greatest) << value;
  }
  const float least = value_of<TypeParam>(1);
  EXPECT_EQ(bits_of<TypeParam>(least / 2), 0U);
  EXPECT_EQ(bits_of<TypeParam>(std::nextafter(least / 2, 1.0F)), 1U);
  EXPECT_EQ(bits_of<TypeParam>(-std::numeric_limits<float>::denorm_min()), 0x80U);
  EXPECT_EQ(bits_of<TypeParam>(-0.0F), 0x80U);
}

TEST(Float8E4m3, has_a_nan_of_each_sign_and_no_infinity) {
  EXPECT_TRUE(std::isnan(value_of<E4m3Format>(0x7f)));
  EXPECT_TRUE(std::isnan(value_of<E4m3Format>(0xff)));
  EXPECT_EQ(bits_of<E4m3Format>(std::numeric_limits<float>::quiet_NaN()), 0x7fU);
  EXPECT_EQ(bits_of<E4m3Format>(std::bit_cast<float>(0xff800001U)), 0xffU);
  EXPECT_EQ(bits_of<E4m3Format>(INFINITY), 0x7eU);
  EXPECT_EQ(bits_of<E4m3Format>(-INFINITY), 0xfeU);
}

TEST(Float8E5m2, keeps_infinities_and_nans) {
  EXPECT_EQ(value_of<E5m2Format>(0x7c), INFINITY);
  EXPECT_EQ(value_of<E5m2Format>(0xfc), -INFINITY);
  EXPECT_EQ(bits_of<E5m2Format>(INFINITY), 0x7cU);
  EXPECT_EQ(bits_of<E5m2Format>(-INFINITY), 0xfcU);
  for (unsigned bits = 0x7d; bits <= 0x7f; ++bits) {
    EXPECT_TRUE(std::isnan(value_of<E5m2Format>(bits)));
    EXPECT_EQ(bits_of<E5m2Format>(value_of<E5m2Format>(bits)), bits | 2U);
    EXPECT_EQ(bits_of<E5m2Format>(value_of<E5m2Format>(0x80 | bits)), 0x80 | bits | 2U);
  }
  // a payload that lies wholly in the bits that are cut off
  EXPECT_EQ(bits_of<E5m2Format>(std::bit_cast<float>(0x7f800001U)), 0x7eU);
}

// Has every pattern several times, so that all lanes of all targets get it.
template <class Format>
void expect_every_pattern_like_scalar() {
  std::vector<std::uint8_t> patterns(5 * 256 + 3);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    patterns[i] = static_cast<std::uint8_t>(i * 7);
  }
  const auto& k = kernel(Format::type, wire::Operator::sum);
  std::vector<float> wide(patterns.size());
  std::vector<std::uint8_t> back(patterns.size());
  k.load(wide.data(), patterns.data(), patterns.size());
  k.store(back.data(), wide.data(), patterns.size());
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const float expected = value_of<Format>(patterns[i]);
    ASSERT_EQ(std::memcmp(&wide[i], &expected, sizeof expected), 0) << unsigned{patterns[i]};
    ASSERT_EQ(back[i], bits_of<Format>(expected)) << unsigned{patterns[i]};
  }
}

TYPED_TEST(Float8, kernels_convert_every_pattern_like_the_scalar_type) {
  for_each_target([](const std::string& target) {
    SCOPED_TRACE(target);
    expect_every_pattern_like_scalar<TypeParam>();
  });
}

// f32 values around every rounding boundary of both formats, which lie at multiples of 2^18 on
// their bits.
TYPED_TEST(Float8, kernels_round_like_the_scalar_type) {
  std::vector<float> values;
  for (std::uint64_t bits = 0; bits <= 0xffffffffU; bits += 0x40000) {
    for (const std::uint64_t near : {0U, 1U, 0x1ffffU, 0x20000U, 0x3ffffU}) {
      values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits | near)));
    }
  }
  for_each_target([&](const std::string& target) {
    SCOPED_TRACE(target);
    std::vector<std::uint8_t> stored(values.size());
    kernel(TypeParam::type, wire::Operator::sum).store(stored.data(), values.data(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(stored[i], bits_of<TypeParam>(values[i]))
          << std::bit_cast<std::uint32_t>(values[i]);
    }
  });
}

// 16 + 1 is neither an E4M3 nor an E5M2; f32 accumulation keeps the ones until the sum is sent on.
TYPED_TEST(Float8, kernels_accumulate_in_f32) {
  const auto& k = kernel(TypeParam::type, wire::Operator::sum);
  ASSERT_EQ(k.accumulator_bytes, sizeof(float));
  const typename TypeParam::Type big(16.0F);
  const typename TypeParam::Type one(1.0F);
  typename TypeParam::Type result;
  float accumulator = 0;
  k.load(&accumulator, &big, 1);
  for (int i = 0; i < 4; ++i) {
    k.accumulate(&accumulator, &one, 1);
  }
  k.store(&result, &accumulator, 1);
  EXPECT_EQ(static_cast<float>(result), 20.0F);
}

}  // namespace
}  // namespace tributary::reduce
