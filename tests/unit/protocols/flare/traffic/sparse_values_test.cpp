// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/traffic/sparse_values.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include <gtest/gtest.h>

namespace tributary::flare {
namespace {

using wire::ElementType;
using wire::FlareForm;

constexpr std::uint32_t sparse_ranks = 3;
// 30 pairs in two packets, where 21 of i32 fit.
constexpr SparsePlan plan_of_values{.spacing = 20, .shards = 2, .pairs = 15, .full = 128};

wire::FlareSparseHeader header_of(const SparseValues::Shard& shard) {
  wire::FlareSparseHeader header;
  header.form = shard.form;
  header.first = shard.first;
  header.elements = shard.elements;
  return header;
}

std::uint64_t weighed(const SparseValues& values, const SparseValues::Shards& shards) {
  std::uint64_t sum = 0;
  for (const auto& shard : shards) {
    const auto one = values.weigh(header_of(shard), shard.payload, true);
    EXPECT_TRUE(one);
    sum += one.value_or(0);
  }
  return sum;
}

std::set<std::uint16_t> places_of(const SparseValues::Shards& shards, std::size_t pair_bytes) {
  std::set<std::uint16_t> places;
  for (const auto& shard : shards) {
    for (std::size_t at = 0; at < shard.payload.size(); at += pair_bytes) {
      places.insert(wire::flare_offset_at(shard.payload.data() + at));
    }
  }
  return places;
}

constexpr ElementType sparse_types[] = {ElementType::f32,  ElementType::f64, ElementType::f16,
                                        ElementType::bf16, ElementType::i8,  ElementType::i16,
                                        ElementType::i32,  ElementType::i64};

TEST(SparseValues, ContributionsAndResultsWeighAsMuchForAllTypes) {
  for (const auto type : sparse_types) {
    const SparseValues values(type, sparse_ranks, plan_of_values);
    for (std::uint32_t variant = 0; variant < SparseValues::variants; ++variant) {
      std::uint64_t contributed = 0;
      for (std::uint32_t rank = 0; rank < sparse_ranks; ++rank) {
        contributed += weighed(values, values.contribution(rank, variant));
      }
      EXPECT_EQ(contributed, values.weighed_sum(variant)) << wire::name(type);
      EXPECT_EQ(weighed(values, values.result(variant)), values.weighed_sum(variant));
    }
  }
}

TEST(SparseValues, ContributionsHaveAsManyPairsAndPacketsAsTold) {
  const SparseValues values(ElementType::i32, sparse_ranks, plan_of_values);
  EXPECT_EQ(values.span(), 600);
  EXPECT_EQ(values.shards(), 2u);
  for (std::uint32_t rank = 0; rank < sparse_ranks; ++rank) {
    const auto& shards = values.contribution(rank, 1);
    ASSERT_EQ(shards.size(), 2u);
    EXPECT_EQ(shards[0].elements, 15);
    EXPECT_EQ(shards[1].elements, 15);
    EXPECT_EQ(places_of(shards, 6).size(), 30u);
  }
  EXPECT_NE(places_of(values.contribution(0, 1), 6), places_of(values.contribution(1, 1), 6));
  EXPECT_NE(places_of(values.contribution(0, 1), 6), places_of(values.contribution(0, 2), 6));
}

TEST(SparseValues, WhatPairsWouldMakeLongerGoesInRuns) {
  const SparsePlan all{.spacing = 1, .shards = 2, .pairs = 15, .full = 64};
  const SparseValues values(ElementType::i32, sparse_ranks, all);
  EXPECT_EQ(values.shards(), 2u);
  const auto& shards = values.contribution(0, 0);
  EXPECT_EQ(shards[0].form, FlareForm::run);
  EXPECT_EQ(shards[0].elements, 16);
  EXPECT_EQ(shards[1].first, 16);
  EXPECT_EQ(shards[1].elements, 14);
}

TEST(SparseValues, OneWrongValueOrPlaceIsSeen) {
  const SparseValues values(ElementType::i16, sparse_ranks, plan_of_values);
  const auto& shard = values.result(0).front();
  const auto right = values.weigh(header_of(shard), shard.payload, true);
  for (const std::size_t at : {0, 1, 2, 3}) {
    auto payload = shard.payload;
    payload[at] ^= std::byte{1};
    EXPECT_NE(values.weigh(header_of(shard), payload, true), right) << at;
  }
}

TEST(SparseValues, PairsOfASumMayComeInAnyOrderThoseOfAResultNot) {
  const SparseValues values(ElementType::i16, sparse_ranks, plan_of_values);
  const auto& shard = values.result(0).front();
  auto payload = shard.payload;
  std::swap_ranges(payload.begin(), payload.begin() + 4, payload.begin() + 4);
  const auto header = header_of(shard);
  EXPECT_EQ(values.weigh(header, payload, false), values.weigh(header, shard.payload, true));
  EXPECT_FALSE(values.weigh(header, payload, true));
}

TEST(SparseValues, WhatIsNotWholeIsNoValue) {
  const SparseValues values(ElementType::f32, sparse_ranks, plan_of_values);
  const auto& shard = values.result(0).front();
  for (const float value : {0.5f, 0x1p60f, std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity()}) {
    auto payload = shard.payload;
    std::memcpy(payload.data() + wire::flare_offset_bytes, &value, sizeof value);
    EXPECT_FALSE(values.weigh(header_of(shard), payload, true)) << value;
  }
}

}  // namespace
}  // namespace tributary::flare
