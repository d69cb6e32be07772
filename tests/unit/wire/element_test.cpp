// SPDX-License-Identifier: BSD-3-Clause
#include "wire/element.h"

#include <gtest/gtest.h>

namespace tributary::wire {
namespace {

TEST(Element, numbers_are_those_of_the_wire_format) {
  EXPECT_EQ(static_cast<int>(ElementType::f32), 0);
  EXPECT_EQ(static_cast<int>(ElementType::bf16), 3);
  EXPECT_EQ(static_cast<int>(ElementType::i64), 7);
  EXPECT_EQ(static_cast<int>(ElementType::i4), 8);
  EXPECT_EQ(static_cast<int>(ElementType::f8e4m3), 9);
  EXPECT_EQ(static_cast<int>(ElementType::f8e5m2), 10);
  EXPECT_EQ(static_cast<int>(ElementType::f32_i32), 11);
  EXPECT_EQ(static_cast<int>(ElementType::i64_i32), 14);
  EXPECT_EQ(static_cast<int>(ElementType::opaque4), 15);
  EXPECT_EQ(static_cast<int>(ElementType::opaque16), 17);
  EXPECT_EQ(static_cast<int>(Operator::sum), 0);
  EXPECT_EQ(static_cast<int>(Operator::bit_xor), 6);
  EXPECT_EQ(static_cast<int>(Operator::logical_and), 7);
  EXPECT_EQ(static_cast<int>(Operator::logical_xor), 9);
  EXPECT_EQ(static_cast<int>(Operator::maxloc), 11);
  EXPECT_EQ(static_cast<int>(handler_operator(0)), 64);
  EXPECT_EQ(static_cast<int>(handler_operator(handlers_max - 1)), 127);
}

TEST(Element, bytes_per_element) {
  EXPECT_EQ(element_bytes(ElementType::f32), 4U);
  EXPECT_EQ(element_bytes(ElementType::f64), 8U);
  EXPECT_EQ(element_bytes(ElementType::f16), 2U);
  EXPECT_EQ(element_bytes(ElementType::bf16), 2U);
  EXPECT_EQ(element_bytes(ElementType::i8), 1U);
  EXPECT_EQ(element_bytes(ElementType::i16), 2U);
  EXPECT_EQ(element_bytes(ElementType::i32), 4U);
  EXPECT_EQ(element_bytes(ElementType::i64), 8U);
  EXPECT_EQ(element_bytes(ElementType::i4), 1U);
  EXPECT_EQ(element_bytes(ElementType::f8e4m3), 1U);
  EXPECT_EQ(element_bytes(ElementType::f8e5m2), 1U);
  EXPECT_EQ(element_bytes(ElementType::f32_i32), 8U);
  EXPECT_EQ(element_bytes(ElementType::f64_i32), 16U);
  EXPECT_EQ(element_bytes(ElementType::i32_i32), 8U);
  EXPECT_EQ(element_bytes(ElementType::i64_i32), 16U);
  EXPECT_EQ(element_bytes(ElementType::opaque4), 4U);
  EXPECT_EQ(element_bytes(ElementType::opaque8), 8U);
  EXPECT_EQ(element_bytes(ElementType::opaque16), 16U);
}

TEST(Element, opaque_types_are_what_no_built_in_operator_is_for) {
  for (std::size_t i = 0; i < element_type_count; ++i) {
    const auto type = static_cast<ElementType>(i);
    EXPECT_EQ(is_opaque(type), i >= built_in_type_count) << name(type);
    EXPECT_FALSE(is_pair(type) && (is_opaque(type) || is_integer(type))) << name(type);
    for (std::size_t op = 0; is_opaque(type) && op < operator_count; ++op) {
      EXPECT_FALSE(is_valid(type, static_cast<Operator>(op))) << name(type);
    }
  }
}

TEST(Element, handlers_are_operators_of_every_type) {
  for (int op = 0; op < 256; ++op) {
    EXPECT_EQ(is_handler(static_cast<Operator>(op)), op >= 64 && op < 128) << op;
  }
  for (unsigned number = 0; number < handlers_max; ++number) {
    EXPECT_EQ(handler_number(handler_operator(number)), number);
    EXPECT_EQ(name(handler_operator(number)), "handler:" + std::to_string(number));
    EXPECT_EQ(operator_of(name(handler_operator(number))), handler_operator(number));
    EXPECT_TRUE(is_valid(ElementType::i4, handler_operator(number)));
  }
  for (const auto* const none : {"handler:", "handler:64", "handler:07", "handler:-1", "handler"}) {
    EXPECT_EQ(operator_of(none), std::nullopt) << none;
  }
}

// Packets do not cut elements: payloads are multiples of the widest element.
TEST(Element, sizes_divide_the_greatest) {
  for (std::size_t i = 0; i < element_type_count; ++i) {
    EXPECT_EQ(element_bytes_max % element_bytes(static_cast<ElementType>(i)), 0U);
  }
}

TEST(Element, is_valid_over_all_pairs_of_bytes) {
  int valid = 0;
  for (int type = 0; type < 256; ++type) {
    for (int op = 0; op < 256; ++op) {
      valid += is_valid(static_cast<ElementType>(type), static_cast<Operator>(op)) ? 1 : 0;
    }
  }
  EXPECT_EQ(valid, 6 * 4 + 5 * 10 + 4 * 2 + 18 * 64);
  EXPECT_TRUE(is_valid(ElementType::i8, Operator::bit_and));
  EXPECT_FALSE(is_valid(ElementType::bf16, Operator::bit_and));
  EXPECT_TRUE(is_valid(ElementType::i4, Operator::logical_xor));
  EXPECT_FALSE(is_valid(ElementType::f8e5m2, Operator::logical_or));
  EXPECT_TRUE(is_valid(ElementType::f64_i32, Operator::minloc));
  EXPECT_FALSE(is_valid(ElementType::f64_i32, Operator::max));
  EXPECT_FALSE(is_valid(ElementType::i64, Operator::maxloc));
}

TEST(Element, every_type_has_the_operator_that_stands_for_none) {
  for (std::size_t i = 0; i < element_type_count; ++i) {
    const auto type = static_cast<ElementType>(i);
    EXPECT_TRUE(is_valid(type, any_operator(type))) << name(type);
  }
}

TEST(Element, names_lead_back_to_their_values) {
  for (std::size_t i = 0; i < element_type_count; ++i) {
    const auto type = static_cast<ElementType>(i);
    EXPECT_EQ(element_type_of(name(type)), type);
  }
  for (std::size_t i = 0; i < operator_count; ++i) {
    const auto op = static_cast<Operator>(i);
    EXPECT_EQ(operator_of(name(op)), op);
  }
  for (unsigned number = 0; number < handlers_max; ++number) {
    EXPECT_EQ(operator_of(name(handler_operator(number))), handler_operator(number));
  }
  EXPECT_EQ(element_type_of("f8"), std::nullopt);
  EXPECT_EQ(operator_of(""), std::nullopt);
  EXPECT_EQ(listed(operator_names).substr(0, 12), "sum min max ");
  EXPECT_EQ(listed({}), "");
}

// Callers that print them take them for C strings.
TEST(Element, behind_every_name_is_a_null) {
  for (unsigned number = 0; number < handlers_max; ++number) {
    const auto text = name(handler_operator(number));
    EXPECT_STREQ(text.data(), std::string(text).c_str());
  }
  for (const auto names : {std::span<const std::string_view>(element_type_names),
                           std::span<const std::string_view>(operator_names)}) {
    for (const auto text : names) {
      EXPECT_STREQ(text.data(), std::string(text).c_str());
    }
  }
}

}  // namespace
}  // namespace tributary::wire
