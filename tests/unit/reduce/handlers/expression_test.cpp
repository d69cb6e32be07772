// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/handlers/expression.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/expression_reference.h"
#include "support/simd_targets.h"

namespace tributary::reduce {
namespace {

using test::expected;
using test::for_each_target;
using test::is_same;
using test::with_expression_type;
using testing::HasSubstr;
using wire::ElementType;

// Draws from all bits, and from few numbers near zero, so that some are equal, and some wrap or
// overflow.
template <typename T>
std::vector<T> random_elements(std::size_t n, std::mt19937_64& random) {
  std::vector<T> elements(n);
  for (auto& element : elements) {
    const auto draw = random();
    if (draw % 2 == 0) {
      std::memcpy(static_cast<void*>(&element), &draw, sizeof element);
    } else {
      const auto small = static_cast<std::int32_t>(draw >> 8 & 15) - 8;
      element = static_cast<T>(static_cast<test::LaneOf<T>>(small));
    }
  }
  return elements;
}

// The first `n` elements, at an odd address, with guards around them.
template <typename T>
std::vector<T> combined(const Handler& handler, const std::vector<T>& acc, const std::vector<T>& in,
                        std::size_t n) {
  constexpr std::size_t guard = 65;
  const auto bytes = n * sizeof(T);
  std::vector<std::byte> to(bytes + 2 * guard, std::byte{0xa5});
  std::vector<std::byte> from = to;
  std::memcpy(to.data() + guard, acc.data(), bytes);
  std::memcpy(from.data() + guard, in.data(), bytes);
  const auto from_before = from;
  handler.combine(to.data() + guard, from.data() + guard, n);
  EXPECT_EQ(from, from_before);
  const auto is_guard = [](std::byte byte) { return byte == std::byte{0xa5}; };
  EXPECT_TRUE(std::all_of(to.begin(), to.begin() + guard, is_guard));
  EXPECT_TRUE(std::all_of(to.end() - guard, to.end(), is_guard));
  std::vector<T> result(n + 1);
  std::memcpy(result.data(), to.data() + guard, bytes);
  result.resize(n);
  return result;
}

template <typename T>
void check(const std::string& text, ElementType type, std::size_t n, std::uint64_t seed) {
  SCOPED_TRACE(std::string(wire::name(type)) + " n=" + std::to_string(n) + ": " + text);
  const auto handler = compile_expression(text, type);
  ASSERT_TRUE(handler) << handler.error();
  std::mt19937_64 random(seed);
  const auto acc = random_elements<T>(n + 1, random);
  const auto in = random_elements<T>(n + 1, random);
  const auto result = combined(**handler, acc, in, n);
  for (std::size_t i = 0; i < n; ++i) {
    const T wanted = expected(text, acc[i], in[i]);
    ASSERT_TRUE(is_same(result[i], wanted)) << "element " << i;
  }
}

void check_all_types(const std::string& text, std::size_t n) {
  for (const auto type : test::expression_types) {
    with_expression_type(type, [&](auto element) { check<decltype(element)>(text, type, n, n); });
  }
}

TEST(Expression, DoesArithmeticAsItsReferenceDoes) {
  for_each_target([](const std::string& target) {
    SCOPED_TRACE(target);
    for (const auto* const text :
         {"acc = acc + in", "acc = in;", "acc = acc;", "acc = 5;", "acc = min(acc + in, 127);",
          "acc = clamp(acc + in, -100, 100);", "acc = acc - in * 3;", "acc = acc / in;",
          "acc = -acc * abs(in);", "acc = acc < in ? acc : in;",
          "acc = max(acc, in) - min(acc, in)", "d = acc - in; acc = d * d;",
          "acc = (acc > 3) + (in >= 3) * 2 + (acc == in) * 4;",
          "acc = acc <= in && !(in != 2) || acc == 0;", "acc = acc ? in ? 1 : 2 : 3;",
          "big = acc > in ? acc : in; small = acc > in ? in : acc; acc = big - small / 2;"}) {
      check_all_types(text, 37);
    }
  });
}

TEST(Expression, DoesWhatOnlyIntegersHave) {
  for_each_target([](const std::string& target) {
    SCOPED_TRACE(target);
    for (const auto* const text :
         {"acc = acc % in;", "acc = acc & in | ~acc ^ 0x55;", "acc = acc << in;",
          "acc = acc >> in;", "acc = (acc + in + 1) >> 1;", "acc = 7 / (acc - acc) + in;"}) {
      for (const auto type :
           {ElementType::i8, ElementType::i16, ElementType::i32, ElementType::i64}) {
        with_expression_type(type,
                             [&](auto element) { check<decltype(element)>(text, type, 41, 7); });
      }
    }
  });
}

TEST(Expression, DoesWhatOnlyFloatsHave) {
  for (const auto* const text : {"acc = sqrt(acc * acc + in * in);", "acc = acc * 0.5 + in * 1e-3;",
                                 "acc = sqrt(acc);", "acc = 1 / (acc - acc);"}) {
    for (const auto type : {ElementType::f32, ElementType::f64, ElementType::f16, ElementType::bf16,
                            ElementType::f8e4m3, ElementType::f8e5m2}) {
      with_expression_type(type,
                           [&](auto element) { check<decltype(element)>(text, type, 41, 7); });
    }
  }
}

TEST(Expression, TakesAnyNumberOfElements) {
  for (std::size_t n = 0; n <= 70; ++n) {
    check_all_types("acc = max(acc, in) * 2 - 1;", n);
  }
  for (const std::size_t n : {127u, 128u, 129u, 255u, 256u, 257u, 513u}) {
    check_all_types("acc = max(acc, in) * 2 - 1;", n);
  }
}

// Draws texts as tenants may write them: everything that is allowed, in any combination.
class RandomText {
 public:
  RandomText(std::uint64_t seed, bool is_float) : random_(seed), is_float_(is_float) {}

  std::string program() {
    std::string text;
    for (auto left = random_() % 3; left > 0; --left) {
      const auto name = "t" + std::to_string(names_.size());
      text += name + " = " + expression(2) + ";\n";
      names_.push_back(name);
    }
    std::string all = expression(3);
    for (const auto& name : names_) {
      all = "(" + all + ") + " + name;
    }
    return text + "acc = " + all + ";";
  }

 private:
  std::string expression(unsigned depth) {
    const auto draw = random_() % 10;
    if (depth == 0 || draw == 0) {
      return leaf();
    }
    if (draw == 1) {
      return "(" + expression(depth - 1) + " ? " + expression(depth - 1) + " : " +
             expression(depth - 1) + ")";
    }
    if (draw == 2) {
      return (is_float_ ? "sqrt(" : "~(") + expression(depth - 1) + ")";
    }
    if (draw == 3) {
      return one_of({"-", "!", "abs"}) + "(" + expression(depth - 1) + ")";
    }
    if (draw == 4) {
      return one_of({"min", "max"}) + "(" + expression(depth - 1) + "," + expression(depth - 1) +
             ")";
    }
    return "(" + expression(depth - 1) + ")" + infix() + expression(0);
  }
  std::string leaf() {
    const auto draw = random_() % (3 + names_.size());
    return draw == 0   ? "acc"
           : draw == 1 ? "in"
           : draw == 2 ? one_of({"0", "1", "3", "100", "32767", "2147483647"})
                       : names_[draw - 3];
  }
  std::string infix() {
    return is_float_ || random_() % 2 == 0
               ? one_of({" + ", "-", "*", " < ", "<=", ">", ">= ", "==", "!=", " && ", "||"})
               : one_of({"&", "|", "^", "<<", ">>", "+", "*"});
  }
  std::string one_of(std::initializer_list<const char*> all) {
    return *(all.begin() + static_cast<std::ptrdiff_t>(random_() % all.size()));
  }

  std::mt19937_64 random_;
  bool is_float_;
  std::vector<std::string> names_;
};

TEST(Expression, DoesRandomProgramsAsItsReferenceDoes) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    for (const auto type : test::expression_types) {
      const auto text = RandomText(seed, !wire::is_integer(type)).program();
      with_expression_type(type,
                           [&](auto element) { check<decltype(element)>(text, type, 19, seed); });
    }
  }
}

std::int8_t combined_bytes(const std::string& text, std::int8_t acc, std::int8_t in) {
  const auto handler = compile_expression(text, ElementType::i8);
  EXPECT_TRUE(handler) << handler.error();
  return combined(**handler, std::vector{acc}, std::vector{in}, 1)[0];
}

// These results do not come from a reference.
TEST(Expression, HasTheResultsThatTheLanguagePromises) {
  const std::int8_t least = -128;
  EXPECT_EQ(combined_bytes("acc = min(acc + in, 127);", 100, 100), 127);
  EXPECT_EQ(combined_bytes("acc = acc + in;", 100, 100), -56);
  EXPECT_EQ(combined_bytes("acc = acc / in;", 100, 0), 0);
  EXPECT_EQ(combined_bytes("acc = acc % in;", 100, 0), 0);
  EXPECT_EQ(combined_bytes("acc = acc / in;", -7, 2), -3);
  EXPECT_EQ(combined_bytes("acc = acc % in;", -7, 2), -1);
  EXPECT_EQ(combined_bytes("acc = acc >> in;", -7, 1), -4);
  EXPECT_EQ(combined_bytes("acc = 1 << 33;", 0, 0), 2);
  EXPECT_EQ(combined_bytes("acc = 1 + 2 * 3 - 8 / 4;", 0, 0), 5);
  EXPECT_EQ(combined_bytes("acc = acc - in - 1;", 10, 3), 6);
  EXPECT_EQ(combined_bytes("acc = 0xffffffff;", 0, 0), -1);
  EXPECT_EQ(combined_bytes("acc = abs(acc) > 127;", least, 0), 1) << "computed in 32 bits";
  EXPECT_EQ(combined_bytes("acc = 1 < 2 == 2 > 1 ? 3 & 6 : 4;", 0, 0), 2);
  EXPECT_EQ(combined_bytes("acc = !5 + -(-3);", 0, 0), 3);
}

TEST(Expression, HasANameAndAMark) {
  const auto sum = compile_expression("  acc\n = acc +\tin ;", ElementType::f32);
  ASSERT_TRUE(sum);
  EXPECT_EQ((*sum)->name(), "acc = acc + in ;");
  EXPECT_EQ((*sum)->type(), ElementType::f32);
  EXPECT_FALSE((*sum)->is_native());
  const auto mark_of_text = [](const char* text, ElementType type) {
    return (*compile_expression(text, type))->mark();
  };
  EXPECT_EQ(mark_of_text("acc=acc+in", ElementType::f32), (*sum)->mark());
  EXPECT_NE(mark_of_text("acc=acc+in", ElementType::f16), (*sum)->mark());
  EXPECT_NE(mark_of_text("acc=acc-in", ElementType::f32), (*sum)->mark());
  EXPECT_NE(mark_of_text("acc=in+acc", ElementType::f32), (*sum)->mark());
  EXPECT_NE(mark_of_text("acc=acc+2", ElementType::f32),
            mark_of_text("acc=acc+3", ElementType::f32));
}

TEST(Expression, IsRefusedForElementsThatAreNoNumbers) {
  for (const auto type :
       {ElementType::i4, ElementType::f32_i32, ElementType::i64_i32, ElementType::opaque8}) {
    const auto refused = compile_expression("acc = in;", type);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error(), HasSubstr(std::string(wire::name(type))));
    EXPECT_THAT(refused.error(), HasSubstr("native handler"));
  }
}

TEST(Expression, IsRefusedWhenItIsTooLong) {
  const std::string fits = "acc = in;" + std::string(expression_bytes_max - 9, ' ');
  EXPECT_TRUE(compile_expression(fits, ElementType::i8));
  const auto refused = compile_expression(fits + " ", ElementType::i8);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error(), HasSubstr("has 4097 bytes; write it in 4096"));
}

}  // namespace
}  // namespace tributary::reduce
