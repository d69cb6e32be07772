// SPDX-License-Identifier: BSD-3-Clause
#include "host/sketch/quantiles.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plain.h"
#include "support/simd_targets.h"

namespace tributary::host::sketch::test {
namespace {

constexpr unsigned code_bits[] = {8, 4, 2};
constexpr Rounding both[] = {Rounding::nearest, Rounding::stochastic};

std::vector<std::uint8_t> codes_of(const std::vector<float>& elements, const Quantiles& quantiles,
                                   const Chance* chance) {
  std::vector<std::byte> packed(packed_bytes(elements.size(), quantiles.bits));
  encode(packed.data(), elements, quantiles, chance);
  std::vector<std::uint8_t> codes(elements.size());
  unpack(codes.data(), reinterpret_cast<const std::uint8_t*>(packed.data()), codes.size(),
         quantiles.bits);
  return codes;
}

std::vector<float> decoded(const std::vector<float>& elements, const Quantiles& quantiles,
                           const Chance* chance) {
  std::vector<std::byte> packed(packed_bytes(elements.size(), quantiles.bits));
  encode(packed.data(), elements, quantiles, chance);
  std::vector<float> out(elements.size(), 77.0f);
  decode(out, packed.data(), quantiles.values, quantiles.bits);
  return out;
}

TEST(Packing, IsItsOwnInverse) {
  for (const auto bits : code_bits) {
    for (const std::size_t n : {0, 1, 2, 3, 4, 5, 8, 9, 511, 512}) {
      std::vector<std::uint8_t> numbers(n);
      std::iota(numbers.begin(), numbers.end(), std::uint8_t{3});
      std::vector<std::uint8_t> packed(packed_bytes(n, bits));
      pack(packed.data(), numbers.data(), n, bits);
      std::vector<std::uint8_t> back(n);
      unpack(back.data(), packed.data(), n, bits);
      for (auto& number : numbers) {
        number = static_cast<std::uint8_t>(number & ((1u << bits) - 1));
      }
      EXPECT_EQ(back, numbers);
    }
  }
}

// Expects that the bucket of each element is the last one that does not begin above it.
void expect_plain_search() {
  const auto chance = chance_of(4, 1, 2);
  for (const auto bits : code_bits) {
    for (const auto& elements : odd_vectors()) {
      const auto of_buckets = quantiles_of(elements, bits, Rounding::nearest);
      const auto codes = codes_of(elements, of_buckets, nullptr);
      const auto of_points = quantiles_of(elements, bits, Rounding::stochastic);
      const auto by_chance = codes_of(elements, of_points, &chance);
      const auto last = of_points.codes() - 1;
      for (std::size_t i = 0; i < elements.size(); ++i) {
        const auto bucket = [&](const Quantiles& in) {
          const auto* const first = in.edges.data();
          return std::upper_bound(first + 1, first + in.codes(), elements[i]) - first - 1;
        };
        ASSERT_EQ(codes[i], bucket(of_buckets)) << bits << " bits, element " << i;
        const auto below = static_cast<std::size_t>(bucket(of_points));
        const auto& values = of_points.values;
        const float distance = values[std::min(below + 1, last)] - values[below];
        const float part = (elements[i] - values[below]) / distance;
        ASSERT_EQ(by_chance[i], below + (drawn(chance, i) < part ? 1 : 0)) << i;
      }
    }
  }
}

TEST(Quantiles, EncodeAsAPlainSearchDoes) {
  tributary::test::for_each_target([](const std::string& target) {
    SCOPED_TRACE(target);
    expect_plain_search();
  });
}

// By the paper each bucket has as many elements, and the mean of its quantiles stands for them.
TEST(Quantiles, BucketsAreEquallyFullAndStoodForByTheirMiddle) {
  for (const auto bits : code_bits) {
    const auto elements = gradient(40000, bits);
    const auto quantiles = quantiles_of(elements, bits, Rounding::nearest);
    std::vector<std::size_t> in_bucket(quantiles.codes());
    for (const auto code : codes_of(elements, quantiles, nullptr)) {
      ++in_bucket[code];
    }
    const auto share = elements.size() / quantiles.codes();
    for (const auto n : in_bucket) {
      EXPECT_NEAR(static_cast<double>(n), static_cast<double>(share), 2.0);
    }
    auto sorted = elements;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(quantiles.edges[0], sorted.front());
    for (std::size_t i = 0; i + 1 < quantiles.codes(); ++i) {
      EXPECT_FLOAT_EQ(quantiles.values[i], (quantiles.edges[i] + quantiles.edges[i + 1]) / 2);
    }
  }
}

TEST(Quantiles, ErrorIsThatOfTheBucketAndOrderIsKept) {
  for (const auto bits : code_bits) {
    auto elements = gradient(3000, bits);
    std::sort(elements.begin(), elements.end());
    for (const auto rounding : both) {
      const auto quantiles = quantiles_of(elements, bits, rounding);
      const auto out = decoded(elements, quantiles, nullptr);
      EXPECT_TRUE(std::is_sorted(out.begin(), out.end()));
      const auto codes = codes_of(elements, quantiles, nullptr);
      for (std::size_t i = 0; i < elements.size(); ++i) {
        const std::size_t code = codes[i];
        const float end =
            code + 1 < quantiles.codes() ? quantiles.edges[code + 1] : elements.back();
        ASSERT_LE(std::fabs(out[i] - elements[i]), end - quantiles.edges[code]) << i;
      }
      EXPECT_EQ(decoded(out, quantiles, nullptr), out) << "what it stands for, it stands for";
    }
  }
}

TEST(Quantiles, AreExactForAsManyValuesAsThereAreCodes) {
  for (const auto bits : code_bits) {
    const auto codes = std::size_t{1} << bits;
    const auto chance = chance_of(1, 2, 3);
    std::vector<float> elements = gradient(codes, 3);
    EXPECT_EQ(decoded(elements, quantiles_of(elements, bits, Rounding::stochastic), &chance),
              elements);
    const std::vector<float> alike(700, -3.25f);
    for (const auto rounding : both) {
      EXPECT_EQ(decoded(alike, quantiles_of(alike, bits, rounding), &chance), alike);
    }
  }
}

TEST(Quantiles, ChanceIsRightInTheMean) {
  const auto elements = gradient(chunk_elements, 9);
  const auto quantiles = quantiles_of(elements, 4, Rounding::stochastic);
  std::vector<double> sum(elements.size());
  constexpr int rounds = 4000;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const auto chance = chance_of(7, 0, round);
    const auto out = decoded(elements, quantiles, &chance);
    std::transform(sum.begin(), sum.end(), out.begin(), sum.begin(), std::plus<>());
  }
  const auto codes = codes_of(elements, quantiles, nullptr);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::size_t above = std::min<std::size_t>(codes[i] + 1, quantiles.codes() - 1);
    const double width = quantiles.values[above] - quantiles.values[codes[i]];
    ASSERT_LE(std::fabs(sum[i] / rounds - elements[i]), 5.0 * width / 2 / std::sqrt(rounds) + 1e-6);
  }
}

// The element in the middle is between two values whose distance is beyond f32.
TEST(Quantiles, ChanceIsRightBetweenValuesThatAreFarApart) {
  std::vector<float> elements(81, -3e38f);
  elements[40] = 1.5e38f;
  std::fill(elements.begin() + 41, elements.end(), 3e38f);
  const auto quantiles = quantiles_of(elements, 2, Rounding::stochastic);
  constexpr int rounds = 4000;
  int up = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const auto chance = chance_of(7, 0, round);
    up += decoded(elements, quantiles, &chance)[40] > 0 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(up) / rounds, 0.75, 0.03);
}

TEST(Quantiles, WhatIsNotFiniteMakesAllOfItNan) {
  for (const float bad : {nan, infinity, -infinity}) {
    for (const std::size_t at : {0, 511, 512, 699}) {
      auto elements = gradient(700, 3);
      elements[at] = bad;
      for (const auto rounding : both) {
        const auto out = decoded(elements, quantiles_of(elements, 8, rounding), nullptr);
        EXPECT_TRUE(std::all_of(out.begin(), out.end(), [](float x) { return std::isnan(x); }));
      }
    }
  }
}

// Vectors are longer than those that are sorted: quantiles are those of a sample, the ends those of
// all elements.
TEST(Quantiles, OfASampleAreNear) {
  auto elements = gradient(20 * sample_elements + 77, 3);
  elements[12345] = 99;
  elements[54321] = -98;
  const auto quantiles = quantiles_of(elements, 8, Rounding::stochastic);
  EXPECT_EQ(quantiles.values[0], -98.0f);
  EXPECT_EQ(quantiles.values[255], 99.0f);
  std::sort(elements.begin(), elements.end());
  for (std::size_t i = 1; i < 255; ++i) {
    const auto rank = std::lower_bound(elements.begin(), elements.end(), quantiles.values[i]);
    const auto share =
        static_cast<double>(rank - elements.begin()) / static_cast<double>(elements.size());
    EXPECT_NEAR(share, static_cast<double>(i) / 255, 0.01) << i;
  }
}

}  // namespace
}  // namespace tributary::host::sketch::test
