// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/engine/sparse_sum.h"

#include <random>

#include <gtest/gtest.h>

#include "protocols/flare/engine/config.h"
#include "sparse_elements.h"

namespace tributary::flare {
namespace {

using wire::FlareForm;

// Blocks of 512 elements: 32 runs of 16, and packets of 10 pairs.
class SparseSumTest : public ::testing::Test {
 protected:
  static constexpr std::size_t runs = 32;

  void begin(bool is_root, std::uint16_t span = 512) {
    wire::FlareSparseHeader header;
    header.element_type = wire::ElementType::i32;
    header.span = span;
    header.full = std::uint16_t{64};
    block = header;
    expected.assign(span, 0);
    sums.assign(span, 0);
    shards = 0;
    sum.begin(header, is_root);
  }
  bool take(FlareForm form, std::uint16_t first, std::uint16_t elements, const Bytes& payload) {
    auto header = block;
    header.form = form;
    header.first = first;
    header.elements = elements;
    SparseShards out;
    const bool is_taken = sum.take(header, payload, memory, out);
    EXPECT_LE(out.size(), 1u);
    if (is_taken) {
      add_shard(expected, form, first, payload);
    }
    keep(out);
    return is_taken;
  }
  bool take(const Pairs& pairs) {
    return take(FlareForm::pairs, 0, static_cast<std::uint16_t>(pairs.size()), bytes_of(pairs));
  }
  bool take_run(std::uint16_t first, std::int32_t value) {
    return take(FlareForm::run, first, 16, bytes_of(std::vector<std::int32_t>(16, value)));
  }
  // Takes a part of ten offsets that no other part has.
  bool take_tenth(std::size_t which) {
    Pairs pairs;
    for (std::size_t i = 0; i < 10; ++i) {
      pairs.emplace_back(static_cast<std::uint16_t>((which * 10 + i) % 512), 1);
    }
    return take(pairs);
  }
  void finish() {
    SparseShards out;
    sum.finish(memory, out);
    EXPECT_GE(out.size(), 1u);
    keep(out);
    EXPECT_EQ(sums, expected);
    EXPECT_LE(shards, 48u);
    EXPECT_EQ(memory.in_use(), sent.size());
    while (!sent.empty()) {
      give_back_buffer(sent.back(), memory);
      sent.pop_back();
    }
    EXPECT_EQ(pool.outstanding(), 0u);
  }
  // Keeps shards, as a parent and the sender do.
  void keep(SparseShards& out) {
    for (std::size_t i = 0; i < out.size(); ++i, ++shards) {
      add_shard(sums, out[i].form, out[i].first, out[i].payload->bytes());
      sent.push_back(std::move(out[i].payload));
    }
  }
  std::vector<PacketPtr> drain() {
    std::vector<PacketPtr> all;
    while (auto packet = pool.allocate()) {
      all.push_back(std::move(packet));
    }
    return all;
  }

  HeapPacketPool pool{256, 256};
  WorkingMemory memory{pool};
  SparseSum sum;
  wire::FlareSparseHeader block;
  std::vector<std::int32_t> expected;
  std::vector<std::int32_t> sums;
  std::vector<PacketPtr> sent;
  std::size_t shards = 0;
};

TEST_F(SparseSumTest, TheRootHasAnArrayAndOthersAHashTable) {
  begin(true);
  ASSERT_TRUE(take({{3, 5}, {500, 7}}));
  EXPECT_EQ(memory.in_use(), runs);
  finish();
  begin(false);
  ASSERT_TRUE(take({{3, 5}, {500, 7}}));
  EXPECT_EQ(memory.in_use(), 5u) << "with the spill buffer";
  finish();
  begin(false, 64);
  ASSERT_TRUE(take({{3, 5}}));
  EXPECT_EQ(memory.in_use(), 4u) << "an array that is no larger than a hash table";
  finish();
}

TEST_F(SparseSumTest, WhatFindsItsPlaceTakenIsSpilledWhenThatFillsAPacket) {
  begin(false);
  std::size_t which = 0;
  while (shards == 0) {
    ASSERT_TRUE(take_tenth(which++));
  }
  EXPECT_EQ(sent.front()->length, 60u) << "10 pairs";
  EXPECT_GE(which, 2u);
  EXPECT_LE(which, 5u) << "40 places";
  finish();
}

TEST_F(SparseSumTest, WhoHasSpilledHalfOfTheBlockGoesOnWithAnArray) {
  begin(false);
  for (std::size_t which = 0; shards < runs / 2; ++which) {
    ASSERT_TRUE(take_tenth(which));
  }
  EXPECT_EQ(memory.in_use(), shards + runs);
  for (std::size_t which = 0; which < 200; ++which) {
    ASSERT_TRUE(take_tenth(which));
  }
  EXPECT_EQ(shards, runs / 2) << "nothing is spilled any more";
  finish();
  EXPECT_EQ(shards, runs / 2 + runs);
}

TEST_F(SparseSumTest, ARunMakesItAnArray) {
  begin(false);
  for (std::size_t which = 0; which < 4; ++which) {
    ASSERT_TRUE(take_tenth(which));
  }
  ASSERT_TRUE(take_run(7, 3));
  EXPECT_EQ(memory.in_use(), shards + runs);
  ASSERT_TRUE(take_tenth(1));
  finish();
}

TEST_F(SparseSumTest, WhatFindsNoBufferChangesNothing) {
  begin(false);
  auto all = drain();
  EXPECT_FALSE(take_tenth(0));
  sum.clear(memory);
  EXPECT_EQ(memory.in_use(), 0u);
  all.clear();
  // Each time another buffer is needed, there is none at first.
  begin(false);
  std::size_t refused = 0;
  for (std::size_t which = 0; which < 60; ++which) {
    all = drain();
    const bool is_taken = take_tenth(which);
    refused += !is_taken;
    all.clear();
    ASSERT_TRUE(is_taken || take_tenth(which));
  }
  EXPECT_EQ(shards, runs / 2);
  EXPECT_GE(refused, runs / 2);
  finish();
}

TEST_F(SparseSumTest, NoContributionsMakeMoreShardsThanOneMayHave) {
  std::mt19937 random(3);
  for (int round = 0; round < 30; ++round) {
    begin(false, static_cast<std::uint16_t>(1 + random() % 512));
    for (int shard = 0; shard < 400; ++shard) {
      Pairs pairs;
      for (auto left = random() % 11; left > 0; --left) {
        pairs.emplace_back(static_cast<std::uint16_t>(random() % expected.size()),
                           static_cast<std::int32_t>(random() % 100));
      }
      ASSERT_TRUE(take(pairs));
      ASSERT_LE(memory.in_use(), buffers_per_sparse_block_max - wire::flare_runs_max);
    }
    finish();
    EXPECT_LE(memory.high_water(), buffers_per_sparse_block_max - wire::flare_runs_max);
  }
}

TEST_F(SparseSumTest, ClearedItHasNoBuffers) {
  begin(false);
  for (std::size_t which = 0; which < 12; ++which) {
    ASSERT_TRUE(take_tenth(which));
  }
  sum.clear(memory);
  EXPECT_EQ(memory.in_use(), sent.size());
  for (auto& one : sent) {
    give_back_buffer(one, memory);
  }
  EXPECT_EQ(pool.outstanding(), 0u);
}

}  // namespace
}  // namespace tributary::flare
