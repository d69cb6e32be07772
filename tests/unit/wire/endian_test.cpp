// SPDX-License-Identifier: BSD-3-Clause
#include "wire/endian.h"

#include <array>
#include <cstring>
#include <type_traits>

#include <gtest/gtest.h>

namespace tributary::wire {
namespace {

template <class T>
std::array<std::uint8_t, sizeof(T)> bytes_of(const T& value) {
  std::array<std::uint8_t, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

TEST(BigEndian, most_significant_byte_comes_first) {
  EXPECT_EQ(bytes_of(be16{0x0102}), (std::array<std::uint8_t, 2>{1, 2}));
  EXPECT_EQ(bytes_of(be32{0x01020304}), (std::array<std::uint8_t, 4>{1, 2, 3, 4}));
  EXPECT_EQ(bytes_of(be64{0x0102030405060708}),
            (std::array<std::uint8_t, 8>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(BigEndian, value_is_what_was_assigned) {
  be32 number;
  EXPECT_EQ(number.value(), 0U);
  for (const std::uint32_t value : {0U, 1U, 0x80000000U, 0xffffffffU, 0xdeadbeefU}) {
    number = value;
    EXPECT_EQ(number.value(), value);
    EXPECT_EQ(number, be32{value});
  }
}

TEST(BigEndian, does_not_convert_by_itself) {
  static_assert(!std::is_convertible_v<be16, std::uint16_t>);
  static_assert(!std::is_convertible_v<std::uint16_t, be16>);
  static_assert(std::is_trivially_copyable_v<be64>);
}

TEST(BigEndian, works_at_any_address) {
  alignas(8) std::array<std::uint8_t, 16> buffer{};
  for (std::size_t at = 0; at <= 8; ++at) {
    auto* number = reinterpret_cast<be64*>(buffer.data() + at);
    *number = 0x1122334455667788ULL;
    EXPECT_EQ(number->value(), 0x1122334455667788ULL);
    EXPECT_EQ(buffer[at], 0x11);
  }
}

}  // namespace
}  // namespace tributary::wire
