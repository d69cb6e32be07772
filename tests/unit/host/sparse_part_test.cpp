// SPDX-License-Identifier: BSD-3-Clause
#include "host/sparse_part.h"

#include <array>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/sparse_sum.h"
#include "unit/host/sparse_vectors.h"

namespace tributary::host::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using wire::ElementType;
using wire::Operator;

// Makes a part of a rank's elements, all of one value, in one range.
SparsePart part_of(const std::vector<std::uint32_t>& indices, std::int32_t value,
                   SparseRange range) {
  const std::vector<std::int32_t> values(indices.size(), value);
  const auto bytes = std::as_bytes(std::span(values));
  return {SparseBuffers{indices, bytes.data(), 1000, ElementType::i32, Operator::sum}, range};
}

std::vector<std::size_t> indices_of(const SparsePart& part) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < part.present(); ++i) {
    indices.push_back(part.index(i));
  }
  return indices;
}
std::vector<std::int32_t> values_of(const SparsePart& part) {
  std::vector<std::int32_t> values;
  for (std::size_t i = 0; i < part.present(); ++i) {
    values.push_back(load<std::int32_t>(part.values(), i));
  }
  return values;
}

TEST(SparsePart, HasWhatLiesInItsRange) {
  const auto part = part_of({0, 99, 100, 150, 199, 200}, 5, {100, 100});
  EXPECT_FALSE(part.is_dense());
  EXPECT_THAT(indices_of(part), ElementsAre(100, 150, 199));
  EXPECT_THAT(values_of(part), ElementsAre(5, 5, 5));
  EXPECT_EQ(part.bytes().size(), 8 + 3 * 8u);
  EXPECT_THAT(indices_of(part_of({0, 99, 200}, 5, {100, 100})), IsEmpty());
  EXPECT_EQ(part_of({}, 5, {0, 0}).bytes().size(), 8u);
}

// Tests the greatest share at which indices take fewer bytes, and one element more.
TEST(SparsePart, IsDenseWhereThatTakesFewerBytes) {
  const std::tuple<ElementType, std::size_t, std::size_t> limits[] = {
      {ElementType::f32, 16, 8},  {ElementType::i32, 17, 8}, {ElementType::f64, 12, 8},
      {ElementType::bf16, 9, 3},  {ElementType::f16, 8, 2},  {ElementType::i8, 10, 2},
      {ElementType::i64, 100, 66}};
  for (const auto& [type, count, present_max] : limits) {
    for (const auto present : {present_max, present_max + 1}) {
      const SparseVectors vectors(1, count, type,
                                  [n = present](std::uint32_t, std::size_t i) { return i < n; });
      const SparsePart part(vectors.of(0), {0, count});
      EXPECT_EQ(part.is_dense(), present > present_max) << wire::name(type) << " " << present;
      EXPECT_LE(part.bytes().size(), 8 + count * wire::element_bytes(type));
      EXPECT_EQ(expanded(joined(std::array{part}, count, type)), vectors.sum());
    }
  }
}

TEST(SparsePart, AddsUnions) {
  auto sum = part_of({100, 120, 140}, 1, {100, 100});
  sum.add(part_of({90, 100, 130, 140, 199}, 10, {100, 100}));
  EXPECT_FALSE(sum.is_dense());
  EXPECT_THAT(indices_of(sum), ElementsAre(100, 120, 130, 140, 199));
  EXPECT_THAT(values_of(sum), ElementsAre(11, 1, 10, 11, 10));
  sum.add(part_of({}, 10, {100, 100}));
  EXPECT_EQ(sum.present(), 5u);
}

// Four of eight elements are the limit, five are dense.
TEST(SparsePart, BecomesDenseWithItsUnion) {
  auto sum = part_of({20, 21}, 1, {20, 8});
  sum.add(part_of({21, 22, 27}, 10, {20, 8}));
  EXPECT_FALSE(sum.is_dense());
  sum.add(part_of({24}, 100, {20, 8}));
  EXPECT_TRUE(sum.is_dense());
  EXPECT_EQ(sum.bytes().size(), 8 + 8 * 4u);
  EXPECT_THAT(values_of(sum), ElementsAre(1, 11, 10, 0, 100, 0, 0, 10));
  EXPECT_THAT(indices_of(sum), ElementsAre(20, 21, 22, 23, 24, 25, 26, 27));
}

TEST(SparsePart, AddsDenseAndSparseOnesEitherWay) {
  const std::vector<std::uint32_t> all = {20, 21, 22, 23};
  for (const bool dense_first : {false, true}) {
    auto sum = dense_first ? part_of(all, 1, {20, 4}) : part_of({22}, 10, {20, 4});
    sum.add(dense_first ? part_of({22}, 10, {20, 4}) : part_of(all, 1, {20, 4}));
    EXPECT_TRUE(sum.is_dense());
    EXPECT_THAT(values_of(sum), ElementsAre(1, 1, 11, 1));
    sum.add(part_of(all, 5, {20, 4}));
    EXPECT_THAT(values_of(sum), ElementsAre(6, 6, 16, 6));
  }
}

std::optional<SparsePart> received(const SparsePart& part) {
  const auto bytes = part.bytes();
  const auto header = bytes.first(SparsePart::header_bytes);
  EXPECT_EQ(SparsePart::size_of(header, part.range(), ElementType::i32), bytes.size());
  return SparsePart::parse({bytes.begin(), bytes.end()}, part.range(), ElementType::i32);
}

TEST(SparsePart, IsReceivedAsItWasSent) {
  const auto sparse = received(part_of({100, 150, 199}, 7, {100, 100}));
  ASSERT_TRUE(sparse);
  EXPECT_THAT(indices_of(*sparse), ElementsAre(100, 150, 199));
  EXPECT_THAT(values_of(*sparse), ElementsAre(7, 7, 7));
  const auto dense = received(part_of({20, 21, 23}, 7, {20, 4}));
  ASSERT_TRUE(dense);
  EXPECT_THAT(values_of(*dense), ElementsAre(7, 7, 0, 7));
  EXPECT_TRUE(received(part_of({}, 0, {20, 0})));
}

TEST(SparsePart, OfAnotherRangeIsRefused) {
  const auto part = part_of({100, 150, 199}, 7, {100, 100});
  const std::vector<std::byte> bytes(part.bytes().begin(), part.bytes().end());
  EXPECT_FALSE(SparsePart::parse(bytes, {101, 100}, ElementType::i32));
  EXPECT_FALSE(SparsePart::parse(bytes, {100, 99}, ElementType::i32));
  EXPECT_TRUE(SparsePart::parse(bytes, {100, 100}, ElementType::i32));
}

TEST(Joined, LeavesOutZerosWhateverTheFormOfTheParts) {
  auto dense = part_of({0, 1, 2, 3}, 4, {0, 4});
  dense.add(part_of({1}, -4, {0, 4}));
  auto sparse = part_of({10, 30}, 9, {4, 40});
  sparse.add(part_of({30}, -9, {4, 40}));
  const auto sum = joined(std::array{dense, sparse}, 44, ElementType::i32);
  EXPECT_FALSE(sum.is_dense());
  EXPECT_THAT(sum.indices, ElementsAre(0, 2, 3, 10));
  EXPECT_THAT(sum.as<std::int32_t>().values, ElementsAre(4, 4, 4, 9));
}

TEST(Joined, IsDenseWhereThatTakesFewerBytes) {
  for (const bool one_more : {false, true}) {
    std::vector<std::uint32_t> indices(one_more ? 23 : 22);
    std::iota(indices.begin(), indices.end(), 0u);
    const auto sum = joined(std::array{part_of(indices, 1, {0, 44})}, 44, ElementType::i32);
    EXPECT_EQ(sum.is_dense(), one_more);
    EXPECT_EQ(sum.as<std::int32_t>().values.size(), one_more ? 44u : 22u);
  }
}

}  // namespace
}  // namespace tributary::host::test
