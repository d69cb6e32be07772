// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/handlers/expression/allocation.h"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reduce/handlers/expression/parser.h"
#include "wire/element.h"

namespace tributary::reduce {
namespace {

using testing::HasSubstr;

tl::expected<Program, std::string> allocated(const std::string& text) {
  const auto formula = parse(text, Lanes::i32);
  EXPECT_TRUE(formula) << formula.error();
  return allocate(*formula, wire::ElementType::i8, text);
}

std::size_t registers_of(const Program& program) {
  std::size_t most = 0;
  for (const auto& instruction : program.instructions) {
    most = std::max<std::size_t>(most, instruction.to + 1u);
  }
  return most;
}

TEST(Allocation, RegistersAreUsedAgain) {
  std::string text = "acc = acc";
  for (int i = 0; i < 30; ++i) {
    text += " * 3 + in";
  }
  const auto program = allocated(text);
  ASSERT_TRUE(program);
  EXPECT_TRUE(is_sound(*program));
  EXPECT_LE(registers_of(*program), 4u);
}

TEST(Allocation, ConstantsAreNotOverwritten) {
  const auto program = allocated("x = acc * 3; y = x * 3 + 5; acc = y * 5 + x;");
  ASSERT_TRUE(program);
  EXPECT_TRUE(is_sound(*program));
  EXPECT_EQ(program->constants.size(), 2u);
}

TEST(Allocation, RefusesTooManyNumbers) {
  std::string text = "acc = acc";
  for (int i = 0; i < 31; ++i) {
    text += " + " + std::to_string(i);
  }
  const auto program = allocated(text);
  ASSERT_FALSE(program);
  EXPECT_THAT(program.error(), HasSubstr("more than 30 different numbers"));
}

// 15 names are needed at the end, besides 15 numbers, or 17.
TEST(Allocation, RefusesTooManyValuesAtOnce) {
  std::string text;
  std::string sum = "in";
  for (int i = 0; i < 15; ++i) {
    const auto name = "x" + std::to_string(i);
    text += name + " = acc + " + std::to_string(i) + ";\n";
    sum = name + " + (" + sum + ")";
  }
  const auto fits = allocated(text + "acc = " + sum + " + acc");
  ASSERT_TRUE(fits) << fits.error();
  EXPECT_TRUE(is_sound(*fits));
  const auto program = allocated(text + "y = in + 15 + 16; acc = y + acc + " + sum);
  ASSERT_FALSE(program);
  EXPECT_THAT(program.error(), HasSubstr("more than 32 values"));
  EXPECT_THAT(program.error(), HasSubstr("line "));
}

}  // namespace
}  // namespace tributary::reduce
