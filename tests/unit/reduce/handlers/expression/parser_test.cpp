// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/handlers/expression/parser.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace tributary::reduce {
namespace {

std::string error_of(std::string_view text, Lanes lanes = Lanes::i32) {
  const auto formula = parse(text, lanes);
  return formula ? "none" : formula.error();
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) {
    all += text;
  }
  return all;
}

TEST(Parser, ErrorsSayWhereWhatAndHow) {
  EXPECT_EQ(error_of("acc = min(acc + im, 127)"),
            "line 1, column 17: there is no `im`; there are acc and in");
  EXPECT_EQ(error_of("x = acc * 2;\nacc = y;"),
            "line 2, column 7: there is no `y`; there are acc, in, x");
  EXPECT_EQ(
      error_of("acc = mix(acc, in);"),
      "line 1, column 7: there is no function `mix`; there are min, max, abs, sqrt and clamp");
  EXPECT_EQ(error_of("acc = acc + ;"),
            "line 1, column 13: a name, a number or `(` has to be here, and not `;`");
  EXPECT_EQ(error_of("acc = min(acc);"), "line 1, column 14: `,` has to be here, and not `)`");
  EXPECT_EQ(error_of("acc = (acc"), "line 1, column 11: `)` has to be here, and not the end");
  EXPECT_EQ(error_of("acc = acc in;"), "line 1, column 11: `;` has to be here, and not `in`");
  EXPECT_EQ(error_of("acc = acc ? in;"), "line 1, column 15: `:` has to be here, and not `;`");
  EXPECT_EQ(error_of("acc == in;"), "line 1, column 5: `=` has to be here, and not `==`");
}

TEST(Parser, AssignsEachNameOnceAndAccLast) {
  EXPECT_EQ(error_of(""), "line 1, column 1: nothing is assigned to acc; end with `acc = ...;`");
  EXPECT_EQ(error_of("x = in;"),
            "line 1, column 8: nothing is assigned to acc; end with `acc = ...;`");
  EXPECT_EQ(error_of("acc = in; x = acc;"),
            "line 1, column 11: nothing comes behind the assignment to acc; move this before it");
  EXPECT_EQ(error_of("x = in; x = acc; acc = x;"),
            "line 1, column 9: `x` has a value, and keeps it; choose another name");
  EXPECT_EQ(error_of("in = acc; acc = in;"),
            "line 1, column 1: `in` means something else; choose another name");
  EXPECT_EQ(error_of("min = acc; acc = in;"),
            "line 1, column 1: `min` means something else; choose another name");
  EXPECT_EQ(error_of("x = in; acc = acc;"),
            "line 1, column 1: nothing uses `x`; use it, or leave it out");
  EXPECT_EQ(error_of("3 = acc;"),
            "line 1, column 1: a statement begins with a name, as in `acc = acc + in;`, and not "
            "with `3`");
  EXPECT_EQ(error_of("acc = in;;"),
            "line 1, column 10: nothing comes behind the assignment to acc; move this before it");
}

TEST(Parser, RefusesWhatTheElementsDoNotHave) {
  EXPECT_EQ(error_of("acc = acc % in;", Lanes::f32),
            "line 1, column 11: `%` is for integers, and these are floats");
  EXPECT_EQ(error_of("acc = ~acc;", Lanes::f64),
            "line 1, column 7: `~` is for integers, and these are floats");
  EXPECT_EQ(error_of("acc = sqrt(acc);"),
            "line 1, column 7: `sqrt` is for floats, and these are integers");
  EXPECT_EQ(error_of("acc = 1.5;"),
            "line 1, column 7: `1.5` is no integer of 32 bits; write 127 or 0x7f");
  EXPECT_EQ(error_of("acc = 1e99;", Lanes::f32),
            "line 1, column 7: `1e99` is no number that fits; write 2, 1.5 or 1e-3");
}

TEST(Parser, BoundsWhatAProgramTakes) {
  EXPECT_EQ(error_of("acc = acc" + repeated(" + in", 64)), "none");
  EXPECT_NE(error_of("acc = acc" + repeated(" + in", 65)).find("more than 64 instructions"),
            std::string::npos);
}

TEST(Parser, BoundsTheTimeOfDivisions) {
  for (const auto* const division : {" / in", " % in"}) {
    EXPECT_EQ(error_of("acc = acc" + repeated(division, 4)), "none");
    EXPECT_NE(error_of("acc = acc" + repeated(division, 5)).find("counts as 64"),
              std::string::npos);
  }
  for (const auto lanes : {Lanes::f32, Lanes::f64}) {
    EXPECT_EQ(error_of("acc = acc" + repeated(" / in", 32), lanes), "none");
    EXPECT_EQ(error_of("acc = acc" + repeated(" / in", 33), lanes),
              "line 1, column 171: up to here it takes as long as more than 256 additions, as `/` "
              "counts as 8; leave divisions and roots out, or name what is computed twice");
    const std::string roots = "acc = sqrt(acc)";
    EXPECT_EQ(error_of(roots + repeated(" + sqrt(in)", 27), lanes), "none");
    EXPECT_NE(error_of(roots + repeated(" + sqrt(in)", 28), lanes).find("`sqrt` counts as 8"),
              std::string::npos);
  }
}

TEST(Parser, BoundsNames) {
  std::string text;
  std::string sum = "acc";
  for (int i = 0; i < 16; ++i) {
    const auto name = "x" + std::to_string(i);
    text += name + " = in; ";
    sum += " + " + name;
  }
  EXPECT_EQ(error_of(text + "acc = " + sum), "none");
  EXPECT_NE(error_of(text + "y = in; acc = y +" + sum).find("more than 16 names"),
            std::string::npos);
}

// Too deep nesting gives an error, and does not overflow the stack.
TEST(Parser, BoundsNesting) {
  const std::string deep = "nested too deeply";
  EXPECT_EQ(error_of("acc = " + repeated("(", 15) + "in" + repeated(")", 15)), "none");
  for (const auto* const opening : {"(", "-", "!", "~", "-(", "min(", "acc ? ", "acc ? 1 : "}) {
    EXPECT_NE(error_of("acc = " + repeated(opening, 500)).find(deep), std::string::npos) << opening;
  }
}

TEST(Parser, ComputesEachConstantOnce) {
  const auto formula = parse("acc = acc * 3 + in * 3 - 3;", Lanes::i32);
  ASSERT_TRUE(formula);
  std::size_t constants = 0;
  for (const auto& value : formula->values) {
    constants += value.kind == Value::Kind::constant ? 1 : 0;
  }
  EXPECT_EQ(constants, 1u);
  EXPECT_EQ(formula->values.size(), 2u + 1u + 4u);
  EXPECT_EQ(formula->result, 6u);
}

}  // namespace
}  // namespace tributary::reduce
