// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/block_values.h"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "reduce/kernel.h"
#include "wire/crc32.h"

namespace tributary::traffic {
namespace {

using wire::ElementType;
using wire::Operator;

// Returns a kernel's result for all ranks' parts in this order.
std::vector<std::byte> reduced(const BlockValues& values, ElementType type, Operator op,
                               std::uint32_t ranks, std::uint32_t shift, bool backwards) {
  const auto& kernel = reduce::kernel(type, op);
  const auto elements = values.block_bytes() / wire::element_bytes(type);
  std::vector<std::byte> accumulator(elements * kernel.accumulator_bytes);
  std::vector<std::byte> sum(values.block_bytes());
  for (std::uint32_t i = 0; i < ranks; ++i) {
    const auto rank = backwards ? ranks - 1 - i : i;
    const auto apply = i == 0 ? kernel.load : kernel.accumulate;
    apply(accumulator.data(), values.part(rank, shift).data(), elements);
    if (!kernel.in_place) {  // every hop rounds
      kernel.store(sum.data(), accumulator.data(), elements);
      kernel.load(accumulator.data(), sum.data(), elements);
    }
  }
  kernel.store(sum.data(), accumulator.data(), elements);
  return sum;
}

TEST(BlockValues, SumIsWhatEveryOrderOfReductionGives) {
  for (std::size_t t = 0; t < wire::element_type_count; ++t) {
    for (std::size_t o = 0; o < wire::operator_count; ++o) {
      const auto type = static_cast<ElementType>(t);
      const auto op = static_cast<Operator>(o);
      if (!wire::is_valid(type, op)) {
        continue;
      }
      for (const std::uint32_t ranks : {2u, 7u, 64u}) {
        const BlockValues values(type, op, ranks, 96);
        for (const std::uint32_t shift : {0u, 31u, BlockValues::shifts - 1}) {
          const auto expected = values.sum(shift);
          for (const bool backwards : {false, true}) {
            const auto sum = reduced(values, type, op, ranks, shift, backwards);
            EXPECT_EQ(std::memcmp(sum.data(), expected.data(), sum.size()), 0)
                << name(type) << ' ' << name(op) << ' ' << ranks;
          }
        }
      }
    }
  }
}

TEST(BlockValues, SumDependsOnPlaceShiftAndEveryRank) {
  const BlockValues values(ElementType::f32, Operator::sum, 8, 256);
  EXPECT_NE(std::memcmp(values.sum(0).data(), values.sum(1).data(), values.block_bytes()), 0);
  std::vector<float> sum(256);
  std::memcpy(sum.data(), values.sum(0).data(), values.block_bytes());
  std::size_t repeated = 0;
  for (std::size_t i = 1; i < sum.size(); ++i) {
    repeated += sum[i] == sum[i - 1] ? 1 : 0;
  }
  EXPECT_LT(repeated, 3u);
  for (std::uint32_t rank = 1; rank < 8; ++rank) {
    EXPECT_NE(std::memcmp(values.part(0, 0).data(), values.part(rank, 0).data(), 1024), 0);
  }
}

TEST(BlockValues, KnowsTheCrcOfEveryWindow) {
  const BlockValues values(ElementType::i16, Operator::bit_xor, 3, 50);
  for (std::uint32_t shift = 0; shift < BlockValues::shifts; ++shift) {
    EXPECT_EQ(values.part_crc(2, shift), wire::crc32(0, values.part(2, shift)));
    EXPECT_EQ(values.sum_crc(shift), wire::crc32(0, values.sum(shift)));
  }
}

}  // namespace
}  // namespace tributary::traffic
