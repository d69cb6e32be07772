// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/handlers/expression/lexer.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::reduce {
namespace {

using Kind = Token::Kind;

std::vector<Token> all_of(std::string_view text) {
  std::vector<Token> tokens;
  std::size_t at = 0;
  for (;;) {
    const auto token = next_token(text, at);
    if (token.kind == Kind::end) {
      return tokens;
    }
    tokens.push_back(token);
    at = token.at + token.text.size();
  }
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (const auto& token : all_of(text)) {
    words.emplace_back(token.text);
  }
  return words;
}

using Words = std::vector<std::string>;

TEST(Lexer, TakesTheLongestSymbol) {
  EXPECT_EQ(words_of("a<<=b"), (Words{"a", "<<", "=", "b"}));
  EXPECT_EQ(words_of("a<b>=c==d!=e&&f||g"),
            (Words{"a", "<", "b", ">=", "c", "==", "d", "!=", "e", "&&", "f", "||", "g"}));
  EXPECT_EQ(words_of("a&-b|~c"), (Words{"a", "&", "-", "b", "|", "~", "c"}));
}

TEST(Lexer, TakesNumbersWhole) {
  EXPECT_EQ(words_of("1 2.5 .5 1e-3 1e+3-4 0xfe-1 12ab 1e"),
            (Words{"1", "2.5", ".5", "1e-3", "1e+3", "-", "4", "0xfe", "-", "1", "12ab", "1e"}));
  for (const auto& token : all_of("1 2.5 .5 1e-3 0xfe 12ab")) {
    EXPECT_EQ(token.kind, Kind::number) << token.text;
  }
}

TEST(Lexer, KnowsWherePlacesAre) {
  const auto tokens = all_of(" acc\n  = in2");
  ASSERT_EQ(tokens.size(), 3u);
  EXPECT_EQ(tokens[1].at, 7u);
  EXPECT_TRUE(tokens[1].is("="));
  EXPECT_EQ(tokens[2].kind, Kind::name);
  EXPECT_EQ(place_of(" acc\n  = in2", 7), "line 2, column 3: ");
  EXPECT_EQ(place_of("acc", 0), "line 1, column 1: ");
  EXPECT_EQ(place_of("a\n\n", 3), "line 3, column 1: ");
}

TEST(Lexer, ShowsWhateverItFinds) {
  EXPECT_EQ(quoted(next_token("", 0)), "the end");
  EXPECT_EQ(quoted(next_token("  @", 0)), "`@`");
  EXPECT_EQ(quoted(next_token("\x01", 0)), "byte 1");
  EXPECT_EQ(quoted(next_token("\xc3\xa4", 0)), "byte 195");
  const std::string long_name(50, 'x');
  EXPECT_EQ(quoted(next_token(long_name, 0)), "`" + std::string(40, 'x') + "...`");
  EXPECT_EQ(next_token("@", 0).kind, Kind::strange);
  EXPECT_EQ(next_token("a", 7).kind, Kind::end);
}

}  // namespace
}  // namespace tributary::reduce
