// SPDX-License-Identifier: BSD-3-Clause
#include "host/sketch/grid.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/element_types.h"
#include "plain.h"
#include "reduce/int4.h"
#include "support/simd_targets.h"

namespace tributary::host::sketch::test {
namespace {

constexpr unsigned grid_bits[] = {16, 8, 4};

struct Quantised {
  std::vector<std::int16_t> bounds;
  std::vector<std::byte> integers;
};

Quantised quantised(const Grid& grid, const std::vector<float>& elements, const Chance* chance) {
  Quantised made{std::vector<std::int16_t>(chunks_of(elements.size())),
                 std::vector<std::byte>(grid.bytes_of(elements.size()))};
  grid.find_bounds(made.bounds, elements);
  grid.quantise(made.integers.data(), elements, made.bounds, chance);
  return made;
}

std::int32_t integer_at(const Grid& grid, const std::vector<std::byte>& integers, std::size_t i) {
  if (grid.type() == wire::ElementType::i16) {
    return load<std::int16_t>(integers.data(), i);
  }
  if (grid.type() == wire::ElementType::i8) {
    return load<std::int8_t>(integers.data(), i);
  }
  const auto pair = load<reduce::int4_pair>(integers.data(), i / 2);
  return i % 2 == 0 ? pair.first() : pair.second();
}

std::vector<float> restored(const Grid& grid, const Quantised& from, std::size_t count) {
  std::vector<float> elements(count, 77.0f);
  grid.restore(elements, from.integers.data(), from.bounds);
  return elements;
}

TEST(SketchGrid, HasAsManyLevelsAsSumsHaveRoom) {
  EXPECT_EQ(Grid::levels_of(16, 8), 4095);
  EXPECT_EQ(Grid::levels_of(8, 2), 63);
  EXPECT_EQ(Grid::levels_of(8, 8), 15);
  EXPECT_EQ(Grid::levels_of(8, 127), 1);
  EXPECT_EQ(Grid::levels_of(8, 128), 0);
  EXPECT_EQ(Grid::levels_of(4, 7), 1);
  EXPECT_EQ(Grid::levels_of(4, 8), 0);
  EXPECT_EQ(Grid::levels_of(5, 2), 0);
}

void expect_plain() {
  const auto by_chance = chance_of(4, 1, 2);
  for (const auto bits : grid_bits) {
    const Grid grid(bits, 3);
    for (const auto& elements : odd_vectors()) {
      for (const Chance* chance : {static_cast<const Chance*>(nullptr), &by_chance}) {
        const auto made = quantised(grid, elements, chance);
        const auto decoded = restored(grid, made, elements.size());
        for (std::size_t i = 0; i < elements.size(); ++i) {
          const auto first = i / chunk_elements * chunk_elements;
          const auto n = std::min(chunk_elements, elements.size() - first);
          const float bound = bound_of(elements.data() + first, n);
          const float unit =
              bound == 0 ? 0 : std::max(bound, 0x1p-100f) / static_cast<float>(grid.levels());
          const auto units = units_of(elements[i], unit, grid.levels(), chance, i);
          ASSERT_EQ(integer_at(grid, made.integers, i), units)
              << bits << " bits, element " << i << " of " << elements.size();
          ASSERT_EQ(decoded[i], static_cast<float>(units) * unit);
        }
      }
    }
  }
}

TEST(SketchGrid, IsWhatAPlainOneIs) {
  tributary::test::for_each_target([](const std::string& target) {
    SCOPED_TRACE(target);
    expect_plain();
  });
}

TEST(SketchGrid, IsMonotoneAndItsErrorIsHalfAUnit) {
  for (const auto bits : grid_bits) {
    const Grid grid(bits, 2);
    auto elements = gradient(chunk_elements, bits);
    std::sort(elements.begin(), elements.end());
    const auto decoded = restored(grid, quantised(grid, elements, nullptr), elements.size());
    EXPECT_TRUE(std::is_sorted(decoded.begin(), decoded.end()));
    const float unit =
        bound_of(elements.data(), elements.size()) / static_cast<float>(grid.levels());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      ASSERT_LE(std::fabs(decoded[i] - elements[i]), 0.5001f * unit);
    }
  }
}

// The decoded value is quantised to the same code again, with the same bounds.
TEST(SketchGrid, QuantisesTwiceAsOnce) {
  const auto chance = chance_of(1, 2, 3);
  for (const auto bits : grid_bits) {
    const Grid grid(bits, 4);
    const auto elements = gradient(1300, bits);
    const auto once = quantised(grid, elements, nullptr);
    auto twice = once;
    const auto decoded = restored(grid, once, elements.size());
    grid.quantise(twice.integers.data(), decoded, twice.bounds, nullptr);
    EXPECT_EQ(twice.integers, once.integers);
    EXPECT_EQ(quantised(grid, elements, &chance).integers,
              quantised(grid, elements, &chance).integers)
        << "chance is the same one";
  }
}

TEST(SketchGrid, ChanceIsRightInTheMean) {
  const Grid grid(8, 8);
  constexpr std::size_t count = chunk_elements;
  auto elements = gradient(count, 9);
  elements[0] = 16;  // well above all others
  const double unit = 16.0 / grid.levels();
  std::vector<double> sum(count);
  constexpr int rounds = 4000;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const auto chance = chance_of(7, 0, round);
    const auto decoded = restored(grid, quantised(grid, elements, &chance), count);
    std::transform(sum.begin(), sum.end(), decoded.begin(), sum.begin(), std::plus<>());
  }
  double error = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double off = sum[i] / rounds - elements[i];
    ASSERT_LT(std::fabs(off), 5.0 * unit / 2 / std::sqrt(rounds)) << "five deviations";
    error += off / count;
  }
  EXPECT_LT(std::fabs(error), 5.0 * unit / 2 / std::sqrt(static_cast<double>(rounds) * count));
}

// Errors of ranks that drew the same numbers would add up to n times one error, instead of its
// square root.
TEST(SketchGrid, RanksAndRoundsDrawByThemselves) {
  const auto correlation = [](const Chance& a, const Chance& b) {
    double sum = 0;
    constexpr int count = 100000;
    for (std::size_t i = 0; i < count; ++i) {
      sum += (drawn(a, i) - 0.5) * (drawn(b, i) - 0.5) * 12 / count;
    }
    return std::fabs(sum);
  };
  const auto first = chance_of(1, 0, 0);
  EXPECT_GT(correlation(first, first), 0.98);
  for (std::uint32_t i = 1; i < 8; ++i) {
    EXPECT_LT(correlation(first, chance_of(1, i, 0)), 0.02);
    EXPECT_LT(correlation(first, chance_of(1, 0, i)), 0.02);
    EXPECT_LT(correlation(first, chance_of(1 + i, 0, 0)), 0.02);
  }
}

TEST(SketchGrid, AChunkThatIsNotFiniteIsNanAndNoOther) {
  const auto chance = chance_of(1, 2, 3);
  for (const auto bits : grid_bits) {
    const Grid grid(bits, 2);
    for (const float bad : {nan, -nan, infinity, -infinity}) {
      auto elements = gradient(3 * chunk_elements, 5);
      elements[chunk_elements + 17] = bad;
      const auto made = quantised(grid, elements, &chance);
      const auto decoded = restored(grid, made, elements.size());
      for (std::size_t i = 0; i < elements.size(); ++i) {
        ASSERT_EQ(std::isnan(decoded[i]), i / chunk_elements == 1) << i;
      }
      EXPECT_EQ(integer_at(grid, made.integers, chunk_elements), 0);
      auto kept = elements;
      grid.subtract(kept, made.integers.data(), made.bounds);
      EXPECT_EQ(kept[chunk_elements + 17], 0.0f);
      EXPECT_EQ(kept[chunk_elements], 0.0f) << "nothing of such a chunk is kept back";
      EXPECT_FALSE(std::equal(kept.begin(), kept.begin() + chunk_elements, elements.begin()));
    }
  }
}

TEST(SketchGrid, BoundsAreOrderedAsIntegersAre) {
  const Grid grid(8, 2);
  std::vector<std::int16_t> bounds;
  for (const float element : {0.0f, 0x1p-149f, 1.0f, 1.001f, 2.0f, 0x1p127f, greatest, infinity}) {
    std::int16_t bound[1];
    grid.find_bounds(bound, std::vector<float>{-element});
    bounds.push_back(bound[0]);
  }
  EXPECT_TRUE(std::is_sorted(bounds.begin(), bounds.end()));
  EXPECT_EQ(std::adjacent_find(bounds.begin(), bounds.end()), bounds.end());
}

// Bounds come from the network.
TEST(SketchGrid, BoundsThatNoRankMakesAreNotFinite) {
  const Grid grid(8, 2);
  const std::vector<float> elements = {1.0f, 2.0f};
  for (const int made : {-1, -32768, 0x7f80, 0x7f81, 0x7fff}) {
    const auto bound = static_cast<std::int16_t>(made);
    std::vector<std::byte> integers(2);
    grid.quantise(integers.data(), elements, std::vector{bound}, nullptr);
    EXPECT_EQ(integers, std::vector<std::byte>(2));
    EXPECT_TRUE(std::isnan(restored(grid, {{bound}, integers}, 2)[0]));
  }
}

}  // namespace
}  // namespace tributary::host::sketch::test
