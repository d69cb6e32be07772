// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "host/sketch/chance.h"

// Plain code for sketches, an element at a time, and vectors to test them on.
namespace tributary::host::sketch::test {

// Returns the random number of an element, from 0 on, below 1.
inline float drawn(const Chance& chance, std::size_t index) {
  auto x = static_cast<std::uint32_t>(index) * 0x9e3779b9u ^ chance.first;
  x = (x ^ x >> 16) * 0x7feb352du ^ chance.second;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return static_cast<float>((x ^ x >> 16) >> 8) / 16777216.0f;
}

// The greatest magnitude, rounded up to the upper half of a float.
inline float bound_of(const float* elements, std::size_t n) {
  float greatest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    greatest = std::max(greatest, std::fabs(elements[i]));
  }
  auto bits = std::bit_cast<std::uint32_t>(greatest);
  bits = std::min((bits + 0xffff) & 0xffff0000, 0x7f7f0000u);
  return std::bit_cast<float>(bits);
}

inline std::int32_t units_of(float element, float unit, std::int32_t levels, const Chance* chance,
                             std::size_t index) {
  if (unit == 0) {
    return 0;
  }
  const auto most = static_cast<float>(levels);
  const float exact = std::clamp(element / unit, -most, most);
  if (chance == nullptr) {
    return static_cast<std::int32_t>(std::nearbyint(exact));
  }
  const float below = std::floor(exact);
  return static_cast<std::int32_t>(below) + (drawn(*chance, index) < exact - below ? 1 : 0);
}

// Returns numbers like those of gradients: most of them near zero, some far from it.
inline std::vector<float> gradient(std::size_t count, std::uint64_t seed, float scale = 1) {
  std::mt19937_64 random(seed);
  std::exponential_distribution<float> magnitude(1);
  std::vector<float> elements(count);
  for (auto& element : elements) {
    element = scale * magnitude(random) * (random() % 2 == 0 ? 1.0f : -1.0f);
  }
  return elements;
}

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float greatest = std::numeric_limits<float>::max();

// Returns vectors whose ends or values are hard for codecs.
inline std::vector<std::vector<float>> odd_vectors() {
  std::vector<std::vector<float>> vectors = {
      {1.0f},
      {0.0f, -0.0f},
      std::vector<float>(1000, 0.0f),
      std::vector<float>(1000, -2.5f),
      {greatest, -greatest, 1.0f},
      {0x1p-149f, -0x1p-149f, 0.0f},
      {0x1p-149f, 1.0f, 0x1p-100f, -0x1p-126f},
      {0x1.fffffep20f, -0x1.fffffep20f},
  };
  for (const std::size_t count : {2, 3, 511, 512, 513, 1024, 5000}) {
    vectors.push_back(gradient(count, count));
  }
  return vectors;
}

}  // namespace tributary::host::sketch::test
