// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/engine/sparse_storage.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "elements.h"
#include "sparse_elements.h"

namespace tributary::flare {
namespace {

using wire::ElementType;
using wire::FlareForm;

constexpr SparseShape shape{sizeof(std::int32_t), 64};  // 10 pairs, or 16 elements

class SparseStorageTest : public ::testing::Test {
 protected:
  // Returns the elements of all shards, and releases these.
  std::vector<std::int32_t> drain(std::size_t span) {
    std::vector<std::int32_t> sums(span);
    for (std::size_t i = 0; i < out.size(); ++i) {
      auto& shard = out[i];
      EXPECT_EQ(shard.payload->length,
                shard.elements *
                    (shard.form == FlareForm::pairs ? shape.pair_bytes() : shape.element_bytes));
      add_shard(sums, shard.form, shard.first, shard.payload->bytes());
      give_back_buffer(shard.payload, memory);
    }
    out.clear();
    EXPECT_EQ(memory.in_use(), 0u);
    EXPECT_EQ(pool.outstanding(), 0u);
    return sums;
  }
  PacketPtr no_spills() { return take_buffer(shape.full, memory); }

  HeapPacketPool pool{128, 256};
  WorkingMemory memory{pool};
  SparseShards out;
};

TEST_F(SparseStorageTest, AHashTableTakesWhatFindsAPlace) {
  HashStorage hash;
  ASSERT_TRUE(hash.reserve(shape, memory));
  EXPECT_EQ(memory.in_use(), 4u);
  std::vector<std::int32_t> expected(512);
  std::size_t taken = 0;
  for (std::uint16_t offset = 0; offset < expected.size(); ++offset) {
    if (hash.put(offset, std::int32_t{offset} + 1)) {
      EXPECT_TRUE(hash.put(offset, std::int32_t{1000}));
      expected[offset] = offset + 1001;
      ++taken;
    }
  }
  EXPECT_EQ(taken, 40u) << "no place stays empty";
  hash.take(no_spills(), memory, out);
  EXPECT_EQ(out.size(), 4u);
  EXPECT_EQ(drain(512), expected);
}

// An offset that is turned away goes up alone, once for each rank that brings it.
TEST_F(SparseStorageTest, AHashTableThatIsAThirdFullTurnsHardlyAnyOffsetAway) {
  constexpr SparseShape full{sizeof(std::int32_t), 1376};
  HeapPacketPool packets{8, 2048};
  WorkingMemory buffers{packets};
  HashStorage hash;
  ASSERT_TRUE(hash.reserve(full, buffers));
  std::mt19937 random(3);
  std::set<std::uint16_t> offsets;
  while (offsets.size() < 300) {  // of 916 places
    offsets.insert(static_cast<std::uint16_t>(random() % 11'008));
  }
  const auto turned_away = std::count_if(offsets.begin(), offsets.end(), [&](auto offset) {
    return !hash.put(offset, std::int32_t{1});
  });
  EXPECT_LE(turned_away, 6);
  hash.clear(buffers);
}

TEST_F(SparseStorageTest, PairsOfAHashTableAreMovedTogether) {
  for (std::size_t count = 0; count <= 40; ++count) {
    HashStorage hash;
    ASSERT_TRUE(hash.reserve(shape, memory));
    std::vector<std::int32_t> expected(512);
    std::size_t there = 0;
    for (std::uint16_t offset = 0; there < count; ++offset) {
      if (hash.put(offset, std::int32_t{7})) {
        expected[offset] = 7;
        ++there;
      }
    }
    const auto spilled = bytes_of(Pairs{{500, 1}, {0, 2}, {500, 3}});
    auto buffer = no_spills();
    std::copy(spilled.begin(), spilled.end(), buffer->data());
    buffer->length = static_cast<std::uint32_t>(spilled.size());
    expected[500] += 4;
    expected[0] += 2;
    hash.take(std::move(buffer), memory, out);
    EXPECT_EQ(out.size(), shape.shards_of_pairs(count + 3));
    EXPECT_EQ(drain(512), expected) << count;
  }
}

TEST_F(SparseStorageTest, AnEmptyHashTableIsOneShardWithoutElements) {
  HashStorage hash;
  ASSERT_TRUE(hash.reserve(shape, memory));
  hash.take(no_spills(), memory, out);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].elements, 0u);
  drain(1);
}

TEST_F(SparseStorageTest, AnArrayIsSentInTheFormThatTakesFewerBytes) {
  for (const std::size_t count : {1u, 20u, 66u, 67u, 100u}) {
    ArrayStorage array;
    ASSERT_TRUE(array.reserve(ElementType::i32, shape, 100, memory));
    EXPECT_EQ(memory.in_use(), 7u);
    std::vector<std::int32_t> expected(100);
    for (std::size_t i = 0; i < count; ++i) {
      const auto offset = static_cast<std::uint16_t>(99 - i);
      array.add(offset, std::int32_t{offset} + 1);
      array.add(offset, std::int32_t{1});
      expected[offset] = offset + 2;
    }
    array.take(false, memory, out);
    const bool is_pairs = count < 67;  // 66 x 6 bytes are less than 100 x 4
    EXPECT_EQ(out.size(), is_pairs ? shape.shards_of_pairs(count) : 7);
    EXPECT_EQ(out[0].form == FlareForm::pairs, is_pairs) << count;
    EXPECT_EQ(drain(100), expected);
  }
}

TEST_F(SparseStorageTest, RunsThatLieAcrossThoseOfTheArrayAreAdded) {
  ArrayStorage array;
  ASSERT_TRUE(array.reserve(ElementType::i32, shape, 100, memory));
  std::vector<std::int32_t> values(16);
  std::iota(values.begin(), values.end(), 1);
  std::vector<std::int32_t> expected(100);
  for (std::size_t first = 0; first + values.size() <= 100; first += 3) {
    array.add_run(first, bytes_of(values));
    for (std::size_t i = 0; i < values.size(); ++i) {
      expected[first + i] += values[i];
    }
  }
  array.take(false, memory, out);
  EXPECT_EQ(drain(100), expected);
}

TEST_F(SparseStorageTest, HalvesAreRoundedAtEachAddition) {
  ArrayStorage array;
  ASSERT_TRUE(array.reserve(ElementType::f16, {2, 64}, 32, memory));
  const std::vector<std::uint16_t> big(32, 0x6800);  // 2048, and one more is no number
  const std::vector<std::uint16_t> one(32, 0x3c00);
  for (const auto* elements : {&big, &one, &one}) {
    array.add_run(0, bytes_of(*elements));
  }
  array.take(false, memory, out);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(elements_of<std::uint16_t>(*out[0].payload), big);
  give_back_buffer(out[0].payload, memory);
}

TEST_F(SparseStorageTest, RunsOfZerosAreLeftOutWhereTheyMayBe) {
  for (const bool leaves_out : {true, false}) {
    ArrayStorage array;
    ASSERT_TRUE(array.reserve(ElementType::i32, shape, 96, memory));
    std::vector<std::int32_t> expected(96, 5);
    std::fill_n(expected.begin() + 16, 16, 0);
    array.add_run(0, bytes_of(expected));
    array.take(leaves_out, memory, out);
    EXPECT_EQ(out.size(), leaves_out ? 5u : 6u);
    EXPECT_EQ(drain(96), expected);
  }
}

TEST_F(SparseStorageTest, WhatCancelsOutIsOneShardWithoutElements) {
  for (const bool leaves_out : {true, false}) {
    ArrayStorage array;
    ASSERT_TRUE(array.reserve(ElementType::f32, shape, 96, memory));
    array.add(std::uint16_t{40}, 1.5f);
    array.add(std::uint16_t{40}, -1.5f);
    array.take(leaves_out, memory, out);
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].elements, 0u);
    EXPECT_EQ(out[0].form, FlareForm::pairs);
    drain(96);
  }
}

TEST_F(SparseStorageTest, WithoutBuffersForPairsAnArrayIsSentAsItIs) {
  ArrayStorage array;
  ASSERT_TRUE(array.reserve(ElementType::i32, shape, 100, memory));
  array.add(std::uint16_t{50}, std::int32_t{3});
  std::vector<PacketPtr> all;
  while (auto packet = pool.allocate()) {
    all.push_back(std::move(packet));
  }
  array.take(false, memory, out);
  EXPECT_EQ(out.size(), 7u);
  all.clear();
  std::vector<std::int32_t> expected(100);
  expected[50] = 3;
  EXPECT_EQ(drain(100), expected);
}

TEST_F(SparseStorageTest, WithoutEnoughBuffersNoneAreTaken) {
  std::vector<PacketPtr> all;
  while (auto packet = pool.allocate()) {
    all.push_back(std::move(packet));
  }
  all.resize(all.size() - 3);
  HashStorage hash;
  EXPECT_FALSE(hash.reserve(shape, memory));
  EXPECT_FALSE(hash);
  ArrayStorage array;
  EXPECT_FALSE(array.reserve(ElementType::i32, shape, 100, memory));
  EXPECT_FALSE(array);
  EXPECT_EQ(memory.in_use(), 0u);
}

}  // namespace
}  // namespace tributary::flare
