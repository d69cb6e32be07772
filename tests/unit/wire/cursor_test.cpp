// SPDX-License-Identifier: BSD-3-Clause
#include "wire/cursor.h"

#include <array>
#include <type_traits>

#include <gtest/gtest.h>

#include "wire/endian.h"

namespace tributary::wire {
namespace {

TEST(Cursor, take_advances_by_the_header) {
  std::array<std::byte, 6> bytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  Cursor cursor{bytes};
  const auto* first = cursor.take<be16>();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->value(), 0x0102);
  EXPECT_EQ(cursor.take<be32>()->value(), 0x03040000U);
  EXPECT_TRUE(cursor.rest().empty());
}

TEST(Cursor, take_fails_and_stays_at_every_short_length) {
  std::array<std::byte, 8> bytes{};
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    Cursor cursor{Bytes(bytes).first(length)};
    EXPECT_EQ(cursor.take<be64>(), nullptr);
    EXPECT_EQ(cursor.rest().size(), length);
  }
  Cursor cursor{bytes};
  EXPECT_NE(cursor.take<be64>(), nullptr);
}

TEST(Cursor, skip_never_passes_the_end) {
  std::array<std::byte, 4> bytes{};
  Cursor cursor{bytes};
  EXPECT_TRUE(cursor.skip(3));
  EXPECT_FALSE(cursor.skip(2));
  EXPECT_EQ(cursor.rest().size(), 1U);
  EXPECT_FALSE(cursor.skip(~std::size_t{0}));
  EXPECT_TRUE(cursor.skip(1));
  EXPECT_TRUE(cursor.skip(0));
}

TEST(MutableCursor, writes_through) {
  std::array<std::byte, 2> bytes{};
  MutableCursor cursor{bytes};
  static_assert(std::is_same_v<decltype(cursor.take<be16>()), be16*>);
  static_assert(std::is_same_v<decltype(Cursor{bytes}.take<be16>()), const be16*>);
  *cursor.take<be16>() = 0xabcd;
  EXPECT_EQ(bytes[0], std::byte{0xab});
}

}  // namespace
}  // namespace tributary::wire
