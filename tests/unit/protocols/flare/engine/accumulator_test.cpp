// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/engine/accumulator.h"

#include <gtest/gtest.h>

#include "elements.h"

namespace tributary::flare {
namespace {

using wire::ElementType;
using Halves = std::vector<std::uint16_t>;
using Ints = std::vector<std::int32_t>;

// The number 1 in f16.
constexpr std::uint16_t one = 0x3c00;
constexpr std::uint16_t two_thousand_and_48 = 0x6800;
constexpr std::uint16_t two_thousand_and_50 = 0x6801;

class AccumulatorTest : public ::testing::Test {
 protected:
  template <typename T>
  bool begin(const Shape& shape, Accumulator& to, const std::vector<T>& elements) {
    auto packet = packet_of(pool, elements);
    return to.begin(shape, packet, memory);
  }
  template <typename T>
  void add(const Shape& shape, Accumulator& to, const std::vector<T>& elements) {
    to.add(shape, *packet_of(pool, elements));
  }

  HeapPacketPool pool{8, 512};
  WorkingMemory memory{pool};
  Accumulator accumulator;
};

TEST_F(AccumulatorTest, TheFirstPacketIsTheBuffer) {
  const Shape shape(block_of(ElementType::i32, 2));
  auto packet = packet_of(pool, Ints{1, 2});
  const auto* first = packet.get();
  EXPECT_FALSE(accumulator);
  ASSERT_TRUE(accumulator.begin(shape, packet, memory));
  EXPECT_TRUE(accumulator);
  EXPECT_EQ(packet, nullptr);
  add(shape, accumulator, Ints{10, 20});
  EXPECT_EQ(memory.in_use(), 1u);
  const auto sum = accumulator.take(shape, memory);
  EXPECT_EQ(sum.get(), first);
  EXPECT_EQ(elements_of<std::int32_t>(*sum), (Ints{11, 22}));
  EXPECT_FALSE(accumulator);
  EXPECT_EQ(memory.in_use(), 0u);
  EXPECT_EQ(memory.high_water(), 1u);
}

// If sums were rounded in between, 2048 + 1 + 1 would stay 2048. The test takes all lengths, so
// that the parts of the buffers differ in length.
TEST_F(AccumulatorTest, HalvesAreAddedAsFloatsInTwoBuffersAndRoundedOnce) {
  for (std::size_t count = 0; count <= 70; ++count) {
    const Shape shape(block_of(ElementType::f16, count));
    Halves first(count, two_thousand_and_48);
    Halves ones(count, one);
    Halves expected(count, two_thousand_and_50);
    if (count > 0) {
      first.back() = one;
      ones.back() = 0;
      expected.back() = one;
    }
    ASSERT_TRUE(begin(shape, accumulator, first));
    EXPECT_EQ(memory.in_use(), 2u);
    add(shape, accumulator, ones);
    add(shape, accumulator, ones);
    const auto sum = accumulator.take(shape, memory);
    EXPECT_EQ(elements_of<std::uint16_t>(*sum), expected) << count;
    EXPECT_EQ(memory.in_use(), 0u);
  }
  EXPECT_EQ(pool.outstanding(), 0u);
}

TEST_F(AccumulatorTest, TwoMergeAsFloats) {
  const Shape shape(block_of(ElementType::f16, 3));
  Accumulator other;
  ASSERT_TRUE(begin(shape, accumulator, Halves{two_thousand_and_48, one, 0}));
  ASSERT_TRUE(begin(shape, other, Halves{one, 0, 0}));
  add(shape, other, Halves{one, 0, one});
  accumulator.merge(shape, other, memory);
  EXPECT_FALSE(other);
  EXPECT_EQ(memory.in_use(), 2u);
  EXPECT_EQ(elements_of<std::uint16_t>(*accumulator.take(shape, memory)),
            (Halves{two_thousand_and_50, one, one}));
}

TEST_F(AccumulatorTest, TwoIntegersMergeInPlace) {
  const Shape shape(block_of(ElementType::i32, 2));
  Accumulator other;
  ASSERT_TRUE(begin(shape, accumulator, Ints{1, 2}));
  ASSERT_TRUE(begin(shape, other, Ints{10, 20}));
  accumulator.merge(shape, other, memory);
  EXPECT_EQ(pool.outstanding(), 1u);
  EXPECT_EQ(elements_of<std::int32_t>(*accumulator.take(shape, memory)), (Ints{11, 22}));
}

TEST_F(AccumulatorTest, WithoutBuffersThePacketStaysAsItWas) {
  const Shape shape(block_of(ElementType::f16, 2));
  auto packet = packet_of(pool, Halves{one, 0});
  std::vector<PacketPtr> all;
  while (auto other = pool.allocate()) {
    all.push_back(std::move(other));
  }
  EXPECT_FALSE(accumulator.begin(shape, packet, memory));
  ASSERT_NE(packet, nullptr);
  EXPECT_EQ(elements_of<std::uint16_t>(*packet), (Halves{one, 0}));
  EXPECT_FALSE(accumulator);
  EXPECT_EQ(memory.in_use(), 0u);
  all.pop_back();
  EXPECT_TRUE(accumulator.begin(shape, packet, memory));
  accumulator.clear(memory);
}

TEST_F(AccumulatorTest, ClearedItHasNoBuffers) {
  const Shape shape(block_of(ElementType::bf16, 2));
  ASSERT_TRUE(begin(shape, accumulator, Halves{0x3f80, 0}));
  accumulator.clear(memory);
  accumulator.clear(memory);
  EXPECT_FALSE(accumulator);
  EXPECT_EQ(memory.in_use(), 0u);
  EXPECT_EQ(pool.outstanding(), 0u);
}

}  // namespace
}  // namespace tributary::flare
