// SPDX-License-Identifier: BSD-3-Clause
#include "host/sparse_vector.h"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tributary {
namespace {

SparseElements elements_of(std::size_t count, std::vector<std::uint32_t> indices,
                           const std::vector<std::int16_t>& values) {
  SparseElements elements{count, wire::ElementType::i16, std::move(indices), {}};
  elements.values.resize(values.size() * sizeof(std::int16_t));
  std::memcpy(elements.values.data(), values.data(), elements.values.size());
  return elements;
}

std::vector<std::int16_t> expanded(const SparseElements& elements) {
  std::vector<std::int16_t> typed(elements.count, 77);
  elements.as<std::int16_t>().expand(typed);
  std::vector<std::int16_t> untyped(elements.count, 77);
  elements.expand(untyped.data());
  EXPECT_EQ(typed, untyped);
  return typed;
}

TEST(SparseVector, ExpandsWithZerosWhereNothingIs) {
  const auto elements = elements_of(6, {1, 4}, {-3, 9});
  EXPECT_FALSE(elements.is_dense());
  EXPECT_FALSE(elements.as<std::int16_t>().is_dense());
  EXPECT_EQ(expanded(elements), (std::vector<std::int16_t>{0, -3, 0, 0, 9, 0}));
}

TEST(SparseVector, ExpandsWhatIsDense) {
  const auto elements = elements_of(3, {}, {1, 0, 2});
  EXPECT_TRUE(elements.is_dense());
  EXPECT_TRUE(elements.as<std::int16_t>().is_dense());
  EXPECT_EQ(expanded(elements), (std::vector<std::int16_t>{1, 0, 2}));
}

TEST(SparseVector, OfZerosHasNoElements) {
  EXPECT_FALSE(elements_of(2, {}, {}).is_dense());
  EXPECT_EQ(expanded(elements_of(2, {}, {})), (std::vector<std::int16_t>{0, 0}));
  EXPECT_TRUE(expanded(elements_of(0, {}, {})).empty());
}

}  // namespace
}  // namespace tributary
