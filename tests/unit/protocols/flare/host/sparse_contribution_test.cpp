// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/host/sparse_contribution.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/element_types.h"
#include "unit/host/sparse_vectors.h"

namespace tributary::host::test {
namespace {

using wire::ElementType;

constexpr std::size_t contribution_full = 96;  // bytes: 16 pairs of 4 byte elements, 24 elements

FlareSparseBlocks blocks_over(std::size_t count, std::size_t span, ElementType type) {
  FlareSparseBlocks blocks;
  blocks.type = type;
  blocks.count = count;
  blocks.full = contribution_full;
  blocks.span = span;
  return blocks;
}

// Adds the elements of a shard to the vector.
void spread(const SparseContributions::Shard& shard, const FlareSparseBlocks& blocks,
            std::uint32_t index, Elements& vector) {
  const auto first = blocks.range(index).first;
  const auto pair_bytes = blocks.shape().pair_bytes();
  with_sparse_type(blocks.type, [&]<typename T>(T) {
    for (std::size_t i = 0; i < shard.elements; ++i) {
      const auto* const pair = shard.payload.data() + i * pair_bytes;
      const bool is_run = shard.form == wire::FlareForm::run;
      const auto at = first + (is_run ? shard.first + i : wire::flare_offset_at(pair));
      const auto value =
          is_run ? load<T>(shard.payload.data(), i) : load<T>(pair + wire::flare_offset_bytes, 0);
      store(vector.data(), at, reduce::plus(load<T>(vector.data(), at), value));
    }
  });
}

TEST(FlareSparseContributions, HaveEveryElementOnce) {
  for (std::size_t t = 0; t <= static_cast<std::size_t>(ElementType::i64); ++t) {
    const auto type = static_cast<ElementType>(t);
    for (const std::uint32_t permille : {0, 20, 400, 1000}) {
      const SparseVectors vectors(1, 1003, type, drawn(permille));
      const auto blocks = blocks_over(1003, 200, type);
      SparseContributions contributions(8, contribution_full);
      contributions.begin(vectors.of(0), blocks);
      Elements all(1003 * wire::element_bytes(type));
      for (std::uint32_t index = 0; index < blocks.number(); ++index) {
        contributions.make(index);
        ASSERT_LE(contributions.shards(index), wire::flare_runs_max);
        for (std::uint32_t number = 0; number < contributions.shards(index); ++number) {
          const auto shard = contributions.shard(index, number);
          ASSERT_LE(shard.payload.size(), contribution_full);
          spread(shard, blocks, index, all);
        }
      }
      EXPECT_EQ(all, vectors.sum()) << wire::name(type) << ", " << permille;
    }
  }
}

// f32: 20 elements of 200 take 120 bytes as pairs, 800 as runs; 150 take 900.
TEST(FlareSparseContributions, ArePairsWhereTheseTakeLess) {
  const auto some = [](std::uint32_t, std::size_t index) { return index % 200 < 20; };
  const auto most = [](std::uint32_t, std::size_t index) { return index % 200 < 150; };
  SparseContributions contributions(2, contribution_full);
  const auto blocks = blocks_over(400, 200, ElementType::f32);
  const SparseVectors few(1, 400, ElementType::f32, some);
  contributions.begin(few.of(0), blocks);
  contributions.make(1);
  ASSERT_EQ(contributions.shards(1), 2u);
  EXPECT_EQ(contributions.shard(1, 0).form, wire::FlareForm::pairs);
  EXPECT_EQ(contributions.shard(1, 0).elements, 16);
  EXPECT_EQ(contributions.shard(1, 0).payload.size(), 96u);
  EXPECT_EQ(contributions.shard(1, 1).elements, 4);
  EXPECT_EQ(contributions.shard(1, 1).first, 0);
  const SparseVectors many(1, 400, ElementType::f32, most);
  contributions.begin(many.of(0), blocks);
  contributions.make(1);
  ASSERT_EQ(contributions.shards(1), 9u);
  EXPECT_EQ(contributions.shard(1, 0).form, wire::FlareForm::run);
  EXPECT_EQ(contributions.shard(1, 8).first, 192);
  EXPECT_EQ(contributions.shard(1, 8).elements, 8);
  EXPECT_EQ(contributions.shard(1, 8).payload.size(), 32u);
}

TEST(FlareSparseContributions, OfAnEmptyBlockAreOneShardWithoutElements) {
  SparseContributions contributions(2, contribution_full);
  contributions.begin({{}, nullptr, 400, ElementType::f32, wire::Operator::sum},
                      blocks_over(400, 200, ElementType::f32));
  contributions.make(0);
  ASSERT_EQ(contributions.shards(0), 1u);
  EXPECT_EQ(contributions.shard(0, 0).form, wire::FlareForm::pairs);
  EXPECT_EQ(contributions.shard(0, 0).elements, 0);
  EXPECT_TRUE(contributions.shard(0, 0).payload.empty());
}

TEST(FlareSparseContributions, StayWhereTheyAreForAWindow) {
  const SparseVectors vectors(1, 1000, ElementType::i32, drawn(100));
  SparseContributions contributions(3, contribution_full);
  contributions.begin(vectors.of(0), blocks_over(1000, 200, ElementType::i32));
  contributions.make(0);
  const auto before = contributions.shard(0, 0).payload;
  const Elements bytes(before.begin(), before.end());
  contributions.make(1);
  contributions.make(2);
  const auto after = contributions.shard(0, 0).payload;
  EXPECT_EQ(after.data(), before.data());
  EXPECT_EQ(Elements(after.begin(), after.end()), bytes);
  contributions.make(3);
  EXPECT_EQ(contributions.shard(3, 0).payload.data(), before.data());
}

}  // namespace
}  // namespace tributary::host::test
