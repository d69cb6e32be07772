// SPDX-License-Identifier: BSD-3-Clause
// Tests properties that hold for every vector, on random vectors: of many lengths, wide and narrow,
// of few values and of neighbouring ones.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/sketch/grid_steps.h"
#include "host/sketch/quantile_steps.h"
#include "plain.h"

namespace tributary::host::sketch::test {
namespace {

constexpr std::size_t lengths[] = {1, 2, 3, 5, 255, 511, 512, 513, 1025, 70001};
constexpr unsigned widths_of_codes[] = {8, 4, 2};
constexpr unsigned widths_on_grid[] = {16, 8, 4};
constexpr Rounding roundings[] = {Rounding::nearest, Rounding::stochastic};

float element_of(unsigned kind, std::mt19937_64& random) {
  const auto drawn_bits = random();
  const float part = static_cast<float>(drawn_bits >> 40) * 0x1p-24f - 0.5f;
  switch (kind) {
    case 0:
      return part;
    case 1:  // of all magnitudes
      return std::ldexp(part, static_cast<int>(drawn_bits % 200) - 100);
    case 2:  // of few values, zeros of both signs among them
      return static_cast<float>(static_cast<int>(drawn_bits % 5) - 2) * part * 0.0f +
             static_cast<float>(static_cast<int>(drawn_bits % 5) - 2);
    default:  // neighbours among floats
      return std::bit_cast<float>(0x3f800000u + static_cast<std::uint32_t>(drawn_bits % 300));
  }
}

std::vector<float> vector_of(unsigned kind, std::size_t count) {
  std::mt19937_64 random(kind * 1000003 + count);
  std::vector<float> made(count);
  std::generate(made.begin(), made.end(), [&] { return element_of(kind, random); });
  return made;
}

// Calls f for each vector, with sorted elements if asked for.
template <typename F>
void for_vectors(bool in_order, F f) {
  for (unsigned kind = 0; kind < 4; ++kind) {
    for (const auto count : lengths) {
      auto elements = vector_of(kind, count);
      if (in_order) {
        std::sort(elements.begin(), elements.end());
      }
      SCOPED_TRACE("kind " + std::to_string(kind) + ", " + std::to_string(count) + " elements");
      f(elements);
    }
  }
}

std::vector<std::uint8_t> encoded(const std::vector<float>& elements, const Quantiles& by,
                                  const Chance* chance = nullptr) {
  std::vector<std::byte> packed(packed_bytes(elements.size(), by.bits));
  encode(packed.data(), elements, by, chance);
  std::vector<std::uint8_t> codes(elements.size());
  unpack(codes.data(), reinterpret_cast<const std::uint8_t*>(packed.data()), codes.size(), by.bits);
  return codes;
}

std::vector<float> values_of(const std::vector<std::uint8_t>& codes, const Quantiles& by) {
  std::vector<std::byte> packed(packed_bytes(codes.size(), by.bits));
  pack(reinterpret_cast<std::uint8_t*>(packed.data()), codes.data(), codes.size(), by.bits);
  std::vector<float> elements(codes.size());
  decode(elements, packed.data(), by.values, by.bits);
  return elements;
}

template <typename F>
void for_quantiles(bool in_order, F f) {
  for_vectors(in_order, [&](const std::vector<float>& elements) {
    for (const auto bits : widths_of_codes) {
      for (const auto rounding : roundings) {
        f(elements, quantiles_of(elements, bits, rounding));
      }
    }
  });
}

TEST(SketchLaws, CodesOfGreaterElementsAreNotLess) {
  for_quantiles(true, [](const auto& elements, const Quantiles& by) {
    const auto codes = encoded(elements, by);
    EXPECT_TRUE(std::is_sorted(codes.begin(), codes.end()));
    const auto values = values_of(codes, by);
    EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
  });
}

// Several codes may stand for the same value, which then has one of them.
TEST(SketchLaws, WhatACodeStandsForStandsForItself) {
  const auto chance = chance_of(1, 2, 3);
  for_quantiles(false, [&](const auto& elements, const Quantiles& by) {
    const auto once = values_of(encoded(elements, by), by);
    EXPECT_EQ(values_of(encoded(once, by), by), once);
    if (by.edges == by.values) {
      const auto by_chance = values_of(encoded(elements, by, &chance), by);
      EXPECT_EQ(values_of(encoded(by_chance, by, &chance), by), by_chance);
    }
  });
}

TEST(SketchLaws, AnElementErrsByItsBucketAtMost) {
  const auto chance = chance_of(1, 2, 3);
  for_quantiles(false, [&](const auto& elements, const Quantiles& by) {
    const auto buckets = encoded(elements, by);
    const auto [least, greatest_element] = std::minmax_element(elements.begin(), elements.end());
    const bool is_stochastic = by.edges == by.values;
    const auto values = values_of(encoded(elements, by, is_stochastic ? &chance : nullptr), by);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const std::size_t bucket = buckets[i];
      const float begin = bucket == 0 ? *least : by.edges[bucket];
      const float end = bucket + 1 < by.codes() ? by.edges[bucket + 1] : *greatest_element;
      ASSERT_GE(values[i], begin) << i;
      ASSERT_LE(values[i], end) << i;
    }
  });
}

TEST(SketchLaws, TheSameChanceGivesTheSameCodesAndAnotherOneOthers) {
  const auto elements = gradient(5000, 1);
  for (const auto bits : widths_of_codes) {
    const auto by = quantiles_of(elements, bits, Rounding::stochastic);
    const auto first = chance_of(1, 2, 3);
    const auto same = chance_of(1, 2, 3);
    const auto other = chance_of(2, 2, 3);
    EXPECT_EQ(encoded(elements, by, &first), encoded(elements, by, &same));
    EXPECT_NE(encoded(elements, by, &first), encoded(elements, by, &other));
  }
}

TEST(SketchLaws, NothingIsMadeOfNothing) {
  const auto by = quantiles_of(gradient(10, 1), 8, Rounding::nearest);
  encode(nullptr, {}, by, nullptr);
  decode({}, nullptr, by.values, by.bits);
  const Grid grid(8, 2);
  grid.find_bounds({}, {});
  grid.quantise(nullptr, {}, {}, nullptr);
  grid.restore({}, nullptr, {});
  EXPECT_EQ(grid.bytes_of(0), 0u);
  EXPECT_EQ(packed_bytes(0, 2), 0u);
}

struct OnGrid {
  OnGrid(unsigned bits, const std::vector<float>& elements)
      : grid(bits, 3),
        bounds(chunks_of(elements.size())),
        integers(grid.bytes_of(elements.size())) {
    grid.find_bounds(bounds, elements);
  }
  std::vector<float> restored(const std::vector<float>& elements, const Chance* chance) {
    grid.quantise(integers.data(), elements, bounds, chance);
    std::vector<float> out(elements.size());
    grid.restore(out, integers.data(), bounds);
    return out;
  }

  Grid grid;
  std::vector<std::int16_t> bounds;
  std::vector<std::byte> integers;
};

TEST(SketchLaws, AGridIsMonotoneInAChunkAndQuantisesTwiceAsOnce) {
  for_vectors(true, [](const std::vector<float>& elements) {
    for (const auto bits : widths_on_grid) {
      OnGrid on(bits, elements);
      const auto once = on.restored(elements, nullptr);
      for_chunks(once.size(), [&](std::size_t, std::size_t first, std::size_t n) {
        EXPECT_TRUE(std::is_sorted(once.data() + first, once.data() + first + n));
      });
      const auto integers = on.integers;
      on.restored(once, nullptr);
      EXPECT_EQ(on.integers, integers);
    }
  });
}

TEST(SketchLaws, AnElementOnAGridErrsByAUnitAtMost) {
  const auto chance = chance_of(1, 2, 3);
  for_vectors(false, [&](const std::vector<float>& elements) {
    for (const auto bits : widths_on_grid) {
      OnGrid on(bits, elements);
      const auto nearest = on.restored(elements, nullptr);
      const auto by_chance = on.restored(elements, &chance);
      EXPECT_EQ(on.restored(elements, &chance), by_chance);
      for (std::size_t i = 0; i < elements.size(); ++i) {
        const auto first = i / chunk_elements * chunk_elements;
        const auto n = std::min(chunk_elements, elements.size() - first);
        const float unit = std::max(bound_of(elements.data() + first, n), 0x1p-100f) /
                           static_cast<float>(on.grid.levels());
        ASSERT_LE(std::fabs(nearest[i] - elements[i]), 0.501f * unit) << i;
        ASSERT_LE(std::fabs(by_chance[i] - elements[i]), 1.001f * unit) << i;
      }
    }
  });
}

// One rank is alone, and its sums are what it sent. Adding to the residual and subtracting from it
// are each rounded once, by half of the last place: 2^-24 of the magnitudes.
template <typename Steps>
void expect_nothing_lost(std::size_t count, const SketchOptions& options) {
  GradientSketch sketch(count, options);
  Scratch scratch;
  std::vector<double> given(count);
  std::vector<double> sent(count);
  std::vector<double> rounded(count);
  for (std::uint64_t round = 0; round < 12; ++round) {
    const auto in = gradient(count, round);
    std::vector<float> out(count);
    std::vector<float> before(sketch.residual().begin(), sketch.residual().end());
    Steps steps({in, out}, sketch, 0, 1, scratch);
    while (const auto step = steps.next()) {
      const auto& buffers = step->call.buffers;
      std::copy_n(buffers.in, buffers.bytes(), buffers.out);
    }
    for (std::size_t i = 0; i < count; ++i) {
      given[i] += in[i];
      sent[i] += out[i];
      rounded[i] += 0x1p-24 * (std::fabs(before[i]) + std::fabs(in[i]));
      rounded[i] += 0x1p-24 * std::fabs(sketch.residual()[i]);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_NEAR(sent[i] + sketch.residual()[i], given[i], rounded[i] * 1.000001) << i;
  }
}

TEST(SketchLaws, WhatWasSentAndIsKeptBackIsWhatWasGiven) {
  for (const auto rounding : roundings) {
    for (const std::size_t count : {1, 2, 513, 3001}) {
      for (const auto bits : widths_on_grid) {
        expect_nothing_lost<GridSteps>(count, {SketchKind::grid, bits, rounding, true, 3});
      }
      for (const auto bits : widths_of_codes) {
        expect_nothing_lost<QuantileSteps>(count, {SketchKind::quantiles, bits, rounding, true, 3});
      }
    }
  }
}

}  // namespace
}  // namespace tributary::host::sketch::test
