// SPDX-License-Identifier: BSD-3-Clause
#include "host/exact/quantiser.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/exact/formats.h"
#include "numbers.h"
#include "worlds.h"

namespace tributary::host::exact::test {
namespace {

using wire::ElementType;

TEST(Quantiser, LeavesRoomForTheSumOfTheWorld) {
  EXPECT_EQ(Quantiser(ElementType::f32, 1).bits(), 62);
  EXPECT_EQ(Quantiser(ElementType::f32, 2).bits(), 61);
  EXPECT_EQ(Quantiser(ElementType::f64, 3).bits(), 60);
  EXPECT_EQ(Quantiser(ElementType::f64, 1000).bits(), 52);
  EXPECT_EQ(Quantiser(ElementType::f16, 8).bits(), 27);
  EXPECT_EQ(Quantiser(ElementType::f8e4m3, world_size_max).bits(), 16);
  EXPECT_EQ(Quantiser(ElementType::f32, 8).integers(), ElementType::i64);
  EXPECT_EQ(Quantiser(ElementType::bf16, 8).integers(), ElementType::i32);
}

std::vector<std::int32_t> exponents_of(const Quantiser& quantiser, const Elements& elements,
                                       std::size_t count, bool all_finite = true) {
  std::vector<std::int32_t> exponents(chunks_of(count));
  EXPECT_EQ(quantiser.find_exponents(exponents, elements.data(), count), all_finite);
  return exponents;
}

TEST(Quantiser, FindsTheExponentOfEachChunk) {
  const Quantiser quantiser(ElementType::f32, 8);
  std::vector<float> values(2 * chunk_elements + 1, 0.0f);
  values[3] = -1.0f;
  values[7] = std::numeric_limits<float>::infinity();
  values[chunk_elements] = 0x1.fffffep+9f;
  values[chunk_elements + 1] = -0x1p10f;
  const auto found = exponents_of(quantiser, elements_of(values), values.size(), false);
  EXPECT_EQ(found, (std::vector<std::int32_t>{1, 11, 59 - 149}));
}

TEST(Quantiser, RoundsToTheNearestIntegerAndTiesToTheEvenOne) {
  const Quantiser quantiser(ElementType::f32, world_size_max);  // 48 bits
  const float half = 0x1p-48f;                                  // of a unit, beside 1
  const std::vector<float> values = {1.0f,      half,  3 * half,    -half,       -3 * half,
                                     half / 16, -1.0f, 1.5f * half, -1.5f * half};
  const auto elements = elements_of(values);
  const auto exponents = exponents_of(quantiser, elements, values.size());
  std::vector<std::int64_t> integers(values.size());
  quantiser.quantise(reinterpret_cast<std::byte*>(integers.data()), elements.data(), values.size(),
                     exponents);
  EXPECT_EQ(integers, (std::vector<std::int64_t>{std::int64_t{1} << 47, 0, 2, 0, -2, 0,
                                                 -(std::int64_t{1} << 47), 1, -1}));
}

template <typename T>
void expect_room(ElementType type, std::int32_t exponent) {
  const Quantiser quantiser(type, 2);
  const std::vector<T> values = {number<T>(200), number<T>(-200)};
  Elements integers(values.size() * sizeof(std::int64_t));
  quantiser.quantise(integers.data(), elements_of(values).data(), values.size(),
                     std::array{exponent});
  const auto integer = [&](std::size_t i) {
    return quantiser.integers() == ElementType::i64 ? load<std::int64_t>(integers.data(), i)
                                                    : load<std::int32_t>(integers.data(), i);
  };
  const auto name = std::string(wire::name(type)) + ", " + std::to_string(exponent);
  EXPECT_GE(integer(0), exponent > 0 ? 0 : 1) << name;
  EXPECT_LE(integer(0), std::int64_t{1} << quantiser.bits()) << name;
  EXPECT_EQ(integer(1), -integer(0)) << name;
}

// Exponents come from the network: none of them may lead to undefined behaviour.
TEST(Quantiser, IntegersHaveRoomWhateverTheExponents) {
  for (const auto exponent : {std::numeric_limits<std::int32_t>::min(), -2000, -3, 0, 2000,
                              std::numeric_limits<std::int32_t>::max()}) {
    for (const auto type : float_types) {
      with_float(type, [&]<typename T>(T) { expect_room<T>(type, exponent); });
    }
  }
}

// Of `value`, which has more bits than the type: none of the two neighbours is nearer, and of two
// that are as near the even one was taken.
template <typename T>
void expect_nearest(T got, long double value) {
  using Of = Format<T>;
  const auto bits = std::bit_cast<typename Of::Bits>(got);
  const auto distance = std::fabs(static_cast<long double>(host::test::to_wide(got)) - value);
  const auto magnitude = Of::magnitude_of(bits);
  for (const int step : {-1, 1}) {
    if (magnitude == 0 && step < 0) {
      continue;
    }
    const auto next = static_cast<typename Of::Bits>(bits + static_cast<typename Of::Bits>(step));
    const auto other =
        std::fabs(static_cast<long double>(host::test::to_wide(std::bit_cast<T>(next))) - value);
    EXPECT_FALSE(other < distance) << static_cast<double>(value);
    EXPECT_FALSE(other == distance && magnitude % 2 != 0) << static_cast<double>(value);
  }
}

template <typename T, typename Integer>
void expect_sums_restored(ElementType type, std::uint32_t world, std::mt19937_64& random) {
  const Quantiser quantiser(type, world);
  constexpr std::size_t count = 2000;
  const int least = Format<T>::least;
  const double limit = type == ElementType::f8e4m3 ? 440
                       : sizeof(T) <= 2 && type != ElementType::bf16
                           ? 50'000
                           : std::numeric_limits<double>::max();
  for (const int unit : {least, least + 1, least + 7, std::max(least, -20)}) {
    std::vector<Integer> sums(count);
    const int bits = quantiser.bits() + static_cast<int>(std::bit_width(world - 1));
    for (auto& sum : sums) {
      const auto shift = static_cast<int>(random() % static_cast<unsigned>(bits));
      sum = static_cast<Integer>(static_cast<std::int64_t>(random()) >> (63 - bits + shift));
      if (std::ldexp(std::fabs(static_cast<double>(sum)), unit) > limit) {
        sum = 0;
      }
    }
    const std::vector<std::int32_t> exponents(chunks_of(count), unit + quantiser.bits());
    std::vector<T> restored(count);
    quantiser.restore(reinterpret_cast<std::byte*>(restored.data()),
                      reinterpret_cast<const std::byte*>(sums.data()), count, exponents);
    for (std::size_t i = 0; i < count; ++i) {
      expect_nearest(restored[i], std::ldexp(static_cast<long double>(sums[i]), unit));
    }
  }
}

TEST(Quantiser, RestoresSumsRoundedOnce) {
  std::mt19937_64 random(3);
  for (const std::uint32_t world : {2u, 8u, 1000u}) {
    expect_sums_restored<float, std::int64_t>(ElementType::f32, world, random);
    expect_sums_restored<double, std::int64_t>(ElementType::f64, world, random);
    expect_sums_restored<reduce::half, std::int32_t>(ElementType::f16, world, random);
    expect_sums_restored<reduce::bfloat16, std::int32_t>(ElementType::bf16, world, random);
    expect_sums_restored<reduce::float8_e4m3, std::int32_t>(ElementType::f8e4m3, world, random);
    expect_sums_restored<reduce::float8_e5m2, std::int32_t>(ElementType::f8e5m2, world, random);
  }
}

// The unit of two ranks that both have all bits of their type is 2^-24 of a float beside 1.
TEST(Quantiser, ANumberAloneComesBackAsItWas) {
  std::mt19937_64 random(5);
  for (const auto type : float_types) {
    with_float(type, [&]<typename T>(T) {
      const auto values = drawn<T>(1000, random, 4);
      const Quantiser quantiser(type, 2);
      const auto elements = elements_of(values);
      const auto exponents = exponents_of(quantiser, elements, values.size());
      Elements integers(values.size() * wire::element_bytes(quantiser.integers()));
      quantiser.quantise(integers.data(), elements.data(), values.size(), exponents);
      Elements restored(elements.size());
      quantiser.restore(restored.data(), integers.data(), values.size(), exponents);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto was = host::test::to_wide(values[i]);
        EXPECT_EQ(host::test::to_wide(load<T>(restored.data(), i)), was) << wire::name(type);
      }
    });
  }
}

}  // namespace
}  // namespace tributary::host::exact::test
