// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/handlers/expression/literal.h"

#include <bit>
#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

namespace tributary::reduce {
namespace {

TEST(Literal, IntegersHaveTheirRangeAndHexadecimalOnesAllBits) {
  EXPECT_EQ(bits_of_literal("127", false, Lanes::i32), 127u);
  EXPECT_EQ(bits_of_literal("127", true, Lanes::i32), 0xffffff81u);
  EXPECT_EQ(bits_of_literal("0xffffffff", false, Lanes::i32), 0xffffffffu);
  EXPECT_EQ(bits_of_literal("2147483648", true, Lanes::i32), 0x80000000u);
  EXPECT_EQ(bits_of_literal("2147483649", true, Lanes::i32), std::nullopt);
  EXPECT_EQ(bits_of_literal("0xffffffff", true, Lanes::i32), 1u);
  EXPECT_EQ(bits_of_literal("4294967296", false, Lanes::i32), std::nullopt);
  EXPECT_EQ(bits_of_literal("9223372036854775808", true, Lanes::i64), std::uint64_t{1} << 63);
  EXPECT_EQ(bits_of_literal("9223372036854775809", true, Lanes::i64), std::nullopt);
  EXPECT_EQ(bits_of_literal("0xffffffffffffffff", false, Lanes::i64), ~std::uint64_t{0});
  EXPECT_EQ(bits_of_literal("9223372036854775807", false, Lanes::i64), ~std::uint64_t{0} >> 1);
  EXPECT_EQ(bits_of_literal("9223372036854775808", false, Lanes::i64), std::nullopt);
  EXPECT_EQ(bits_of_literal("2147483648", false, Lanes::i32), std::nullopt)
      << "it would be a negative number";
  EXPECT_EQ(bits_of_literal("18446744073709551616", false, Lanes::i64), std::nullopt);
  EXPECT_EQ(bits_of_literal("010", false, Lanes::i64), 10u);
}

TEST(Literal, FloatsAreRounded) {
  EXPECT_EQ(bits_of_literal("1.5", false, Lanes::f32), std::bit_cast<std::uint32_t>(1.5f));
  EXPECT_EQ(bits_of_literal(".1", true, Lanes::f32), std::bit_cast<std::uint32_t>(-0.1f));
  EXPECT_EQ(bits_of_literal("1e-3", false, Lanes::f64), std::bit_cast<std::uint64_t>(1e-3));
  EXPECT_EQ(bits_of_literal("3.4028235e38", true, Lanes::f32), 0xff7fffffu) << "the least";
  EXPECT_EQ(bits_of_literal("1.00000005960464480", false, Lanes::f32), 0x3f800001u)
      << "at once: as a double it would be between two numbers";
  EXPECT_EQ(bits_of_literal("1e-45", false, Lanes::f32), 1u);
  EXPECT_EQ(bits_of_literal("1e39", false, Lanes::f32), std::nullopt);
  EXPECT_EQ(bits_of_literal("1e39", false, Lanes::f64), std::bit_cast<std::uint64_t>(1e39));
  EXPECT_EQ(bits_of_literal("1e400", false, Lanes::f64), std::nullopt);
}

TEST(Literal, WhatIsNoNumberIsNone) {
  for (const auto* const text : {"12ab", "0x", "0xg", "1e", "1.2.3", "1e5x"}) {
    EXPECT_EQ(bits_of_literal(text, false, Lanes::i32), std::nullopt) << text;
    EXPECT_EQ(bits_of_literal(text, false, Lanes::f32), std::nullopt) << text;
  }
  EXPECT_EQ(bits_of_literal("1.5", false, Lanes::i64), std::nullopt);
  EXPECT_EQ(bits_of_literal("0x10", false, Lanes::f64), std::nullopt);
}

TEST(Literal, SmallNumbersOfEveryKind) {
  EXPECT_EQ(bits_of(-1, Lanes::i32), 0xffffffffu);
  EXPECT_EQ(bits_of(-1, Lanes::i64), ~std::uint64_t{0});
  EXPECT_EQ(bits_of(0, Lanes::f64), 0u);
  EXPECT_EQ(bits_of(1, Lanes::f32), 0x3f800000u);
}

}  // namespace
}  // namespace tributary::reduce
