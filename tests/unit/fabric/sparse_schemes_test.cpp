// SPDX-License-Identifier: BSD-3-Clause
// Tests the models and figures that tools/experiment-sparse-fabric relies on.
#include "unit/fabric/sparse_schemes.h"

#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "unit/fabric/sparse_storage_cost.h"

namespace tributary::test {
namespace {

// Rings cross a link between hosts and leaves twice, or four times with those of a spine:
// 2 + 4 + 2 + 4.
constexpr Cluster four_hosts{
    .leaves = 2, .hosts_per_leaf = 2, .rate_bps = 1'000'000'000, .cable_delay = Duration(1000)};
constexpr std::uint64_t ring_links = 12;
constexpr std::uint64_t tree_links = 12;  // up and down: those of four hosts and of two leaves

SparseInputs inputs_of(std::size_t count, std::size_t bucket, std::size_t candidates) {
  return SparseInputs({count, bucket, candidates, four_hosts.hosts()});
}

std::size_t union_of(const SparseDraw& draw) {
  std::set<std::uint32_t> all;
  for (std::uint32_t rank = 0; rank < draw.ranks; ++rank) {
    const auto own = draw.indices(rank);
    all.insert(own.begin(), own.end());
  }
  return all.size();
}

TEST(SparseDraw, HasOneElementOfEachBucket) {
  for (const std::size_t candidates : {1u, 5u, 16u}) {
    const auto indices = SparseDraw{1600, 16, candidates}.indices(3);
    ASSERT_EQ(indices.size(), 100u);
    for (std::size_t bucket = 0; bucket < 100; ++bucket) {
      EXPECT_EQ(indices[bucket] / 16, bucket);
    }
  }
}

TEST(SparseDraw, OverlapsAsMuchAsThereAreFewCandidates) {
  EXPECT_EQ(union_of({512 * 200, 512, 1, 64}), 200u);
  // m (1 - (1 - 1/m)^64) of m candidates.
  EXPECT_NEAR(static_cast<double>(union_of({512 * 200, 512, 54, 64})), 200 * 37.7, 200);
  EXPECT_NEAR(static_cast<double>(union_of({512 * 200, 512, 512, 64})), 200 * 60.2, 200);
}

TEST(SparseInputs, KnowTheirSum) {
  const auto inputs = inputs_of(100, 10, 1);
  SparseElements sum{100, wire::ElementType::f32, inputs.draw().indices(0), {}};
  const std::vector<float> four(10, 4);
  const auto* const bytes = reinterpret_cast<const std::byte*>(four.data());
  sum.values.assign(bytes, bytes + 40);
  EXPECT_TRUE(inputs.is_sum(sum));
  ++sum.indices.back();
  EXPECT_FALSE(inputs.is_sum(sum));
}

// Every block goes once over every link of the tree, up and down, in a full frame of 1494 bytes;
// leaves ask four hosts for their addresses.
TEST(SparseSchemes, BytesOfDenseFlareAreThoseOfItsFrames) {
  constexpr std::uint64_t blocks = 2000;
  constexpr auto of_frame = forwarding::line_bytes(1494);
  const auto cost = flare_dense(four_hosts, 352 * blocks);
  EXPECT_TRUE(cost.exact);
  EXPECT_EQ(cost.line_bytes, blocks * tree_links * of_frame + 4 * 2 * forwarding::line_bytes(0));
  EXPECT_GE(cost.time, four_hosts.on_line(blocks * of_frame));
  EXPECT_LE(cost.time, four_hosts.on_line(blocks * of_frame) * 11 / 10);
}

TEST(SparseSchemes, BytesOfTheDenseRingAreThoseOfItsSegments) {
  constexpr std::size_t segments = 25;  // of a chunk
  const auto cost = ring_dense(four_hosts, 4 * segments * segment_bytes_max / sizeof(float));
  EXPECT_TRUE(cost.exact);
  const auto of_segment = segment_line_bytes(segment_bytes_max);
  EXPECT_EQ(cost.line_bytes, ring_links * 6 * segments * of_segment);
  const auto alone = four_hosts.on_line(of_segment);
  EXPECT_GE(cost.time, 6 * segments * alone);
  EXPECT_LE(cost.time, 6 * segments * alone + 6 * 4 * (alone + four_hosts.cable_delay));
}

// With equal indices every part has the same pairs: 25 buckets of each of four chunks.
TEST(SparseSchemes, BytesOfTheSparseRingAreThoseOfItsParts) {
  const auto cost = ring_sparse(four_hosts, inputs_of(1600, 16, 1));
  EXPECT_TRUE(cost.exact);
  EXPECT_EQ(cost.line_bytes, ring_links * 6 * message_line_bytes(8 + 25 * 8));
}

// Three parts from each rank: one over two links, two over four. Then chunks, and pairs of them.
TEST(SparseSchemes, BytesOfTheSplitAllgatherAreThoseOfItsParts) {
  const auto inputs = inputs_of(1600, 16, 1);
  constexpr auto part = message_line_bytes(8 + 25 * 8);
  EXPECT_EQ(split_allgather(four_hosts, inputs, false).line_bytes,
            4 * (part * 10 + part * 2 + message_line_bytes(2 * (8 + 25 * 8)) * 4));
  EXPECT_EQ(split_allgather(four_hosts, inputs, true).line_bytes,
            4 * (part * 10 + message_line_bytes(8 + 1600) * 2 + message_line_bytes(3216) * 4));
}

TEST(SparseSchemes, SparseFlareCarriesLessThanTheOthers) {
  const auto inputs = inputs_of(512 * 400, 512, 512);
  const auto sparse = flare_sparse(four_hosts, inputs);
  EXPECT_TRUE(sparse.exact);
  EXPECT_LT(sparse.line_bytes, ring_sparse(four_hosts, inputs).line_bytes);
  EXPECT_LT(20 * sparse.line_bytes, flare_dense(four_hosts, 512 * 400).line_bytes);
  EXPECT_LT(sparse.time, split_allgather(four_hosts, inputs, false).time);
}

// Results come to all hosts over links that have this rate, not in a burst.
TEST(SparseSchemes, TimeOfSparseFlareIsThatOfTheLinkToAHost) {
  const SparseDraw draw{512 * 4000, 512, 512, four_hosts.hosts()};
  const auto cost = flare_sparse(four_hosts, SparseInputs(draw));
  EXPECT_TRUE(cost.exact);
  EXPECT_GE(cost.time, four_hosts.on_line(6 * union_of(draw)));
}

TEST(SparseSchemes, AreExactWhereMostIsThere) {
  const auto inputs = inputs_of(20'000, 2, 2);
  EXPECT_TRUE(flare_sparse(four_hosts, inputs).exact);
  EXPECT_TRUE(ring_sparse(four_hosts, inputs).exact);
}

// An array sends every index once, as an offset of two bytes and its element.
TEST(StorageCost, AnArraySendsTheUnionAndAHashTableMore) {
  const SparseDraw draw{512 * 400, 512, 512, 8};
  const SparseInputs inputs(draw);
  const auto array = storage_cost(inputs, Storage::array);
  const auto hash = storage_cost(inputs, Storage::hash);
  EXPECT_EQ(array.came_bytes, 8u * 400 * 6);
  EXPECT_EQ(array.sent_bytes, 6 * union_of(draw));
  EXPECT_GE(hash.sent_bytes, array.sent_bytes);
  EXPECT_LE(hash.sent_bytes, hash.came_bytes);
  EXPECT_LT(hash.buffers_max, array.buffers_max);
}

// Where an array takes no more buffers than a hash table, there is none.
TEST(StorageCost, DenseBlocksHaveNoHashTable) {
  const SparseInputs inputs({20'000, 4, 4, 8});
  const auto array = storage_cost(inputs, Storage::array);
  const auto hash = storage_cost(inputs, Storage::hash);
  EXPECT_EQ(hash.sent_bytes, array.sent_bytes);
  EXPECT_EQ(hash.buffers_max, array.buffers_max);
}

}  // namespace
}  // namespace tributary::test
