// SPDX-License-Identifier: BSD-3-Clause
#include "control/words.h"

#include <gtest/gtest.h>

namespace tributary::control {
namespace {

const std::vector<std::string_view> known_words = {"red", "green", "turquoise", "grey"};

TEST(Nearest, IsWhatAWordMayBeAMisspellingOf) {
  EXPECT_EQ(nearest("greeen", known_words), "green") << "a letter too many";
  EXPECT_EQ(nearest("gren", known_words), "green") << "a letter is missing, and nearest of two";
  EXPECT_EQ(nearest("turquise", known_words), "turquoise");
  EXPECT_EQ(nearest("rad", known_words), "red") << "another letter";
  EXPECT_EQ(nearest("grey", known_words), "grey");
}

TEST(Nearest, IsNoneOfWordsThatHaveLittleInCommon) {
  EXPECT_EQ(nearest("violet", known_words), "");
  EXPECT_EQ(nearest("", known_words), "");
  EXPECT_EQ(nearest("red", {}), "");
  EXPECT_EQ(nearest("xy", {"ab"}), "") << "nothing of it is left";
}

TEST(Nearest, ForgivesMoreInALongWord) {
  EXPECT_EQ(nearest("turkwois", known_words), "") << "4 of 8";
  EXPECT_EQ(nearest("turkwoise", known_words), "turquoise") << "3 of 9";
  EXPECT_EQ(nearest("retransmissoin-timout", {"retransmission-timeout"}), "retransmission-timeout");
}

TEST(Nearest, DoesNotCompareWhatNobodyWrote) {
  const std::string longest(64, 'a');
  const std::string longer(65, 'a');
  EXPECT_EQ(nearest(longest, {longest}), longest);
  EXPECT_EQ(nearest(longer, {longest}), "");
  EXPECT_EQ(nearest(longest, {longer}), "");
}

TEST(Joined, HasCommasBetween) {
  EXPECT_EQ(joined({}), "");
  EXPECT_EQ(joined({"red"}), "red");
  EXPECT_EQ(joined(known_words), "red, green, turquoise, grey");
}

TEST(Joined, IsCutWhereItGetsLong) {
  const std::vector<std::string_view> many(1000, "a word");
  const auto text = joined(many);
  EXPECT_TRUE(text.ends_with("a word, ..."));
  EXPECT_LT(text.size(), 250u);
  EXPECT_GT(text.size(), 190u);
}

}  // namespace
}  // namespace tributary::control
