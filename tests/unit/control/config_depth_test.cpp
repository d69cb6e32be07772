// SPDX-License-Identifier: BSD-3-Clause
#include "control/config_depth.h"

#include <string>

#include <gtest/gtest.h>

namespace tributary::control {
namespace {

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) {
    all += text;
  }
  return all;
}

TEST(NestedTooDeep, SaysWhereTheLastBracketTooManyIs) {
  EXPECT_FALSE(nested_too_deep("x = " + repeated("[", 32)));
  EXPECT_EQ(nested_too_deep("x = " + repeated("[", 33)), 4u + 32);
  EXPECT_EQ(nested_too_deep("x = " + repeated("{y=", 33)), 4u + 32 * 3);
  EXPECT_EQ(nested_too_deep(repeated("a.", 65)), 64u * 2 + 1);
  EXPECT_FALSE(nested_too_deep(repeated("a.", 64)));
}

TEST(NestedTooDeep, CountsWhatIsOpenOnly) {
  EXPECT_FALSE(nested_too_deep(repeated("[[table]]\nx = [1, {y = 2}]\n", 100)));
  EXPECT_TRUE(nested_too_deep(repeated("]", 100) + repeated("[", 33))) << "none is owed";
  EXPECT_FALSE(nested_too_deep(repeated("a.b = 1.5\n", 100))) << "dots of other lines";
}

TEST(NestedTooDeep, DoesNotCountWhatIsInStringsAndComments) {
  const auto many = repeated("[", 100) + repeated(".", 100);
  for (const auto* const quote : {"\"", "'", "\"\"\"", "'''"}) {
    EXPECT_FALSE(nested_too_deep("x = " + (quote + many) + quote)) << quote;
  }
  EXPECT_FALSE(nested_too_deep("# " + many));
  EXPECT_FALSE(nested_too_deep(R"(x = "\")" + many + '"'));
  EXPECT_FALSE(nested_too_deep("x = \"\"\"\n\"" + many + "\n\"\"\""));
}

TEST(NestedTooDeep, CountsWhatIsBehindStringsAndComments) {
  const auto many = repeated("[", 33);
  for (const auto* const before : {"\"a\"", "'a\\'", "\"\"", "\"\"\"a\nb\"\"\"", "'''a'''",
                                   "''''''", "# a\n", "\"not closed\n", "'not closed\n"}) {
    EXPECT_TRUE(nested_too_deep("x = [" + (before + many))) << before;
  }
}

// By TOML 1.0.0 the first one or two of four or five closing quotes belong to the string.
TEST(NestedTooDeep, KnowsThatAStringOfSeveralLinesMayEndWithQuotes) {
  const auto many = repeated("[", 33);
  for (const auto* const before : {R"("""a"""")", R"("""a""""")", "'''a''''", "'''a'''''"}) {
    EXPECT_TRUE(nested_too_deep("x = [" + (before + many))) << before;
  }
}

}  // namespace
}  // namespace tributary::control
