// SPDX-License-Identifier: BSD-3-Clause
#include "host/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tributary::host {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

TEST(NumberOf, IsAWholeNumberOf32BitsAndNothingElse) {
  EXPECT_EQ(number_of("0"), 0u);
  EXPECT_EQ(number_of("4294967295"), 4294967295u);
  for (const auto* const text : {"", "4294967296", "-1", "+1", " 1", "1 ", "1.0", "0x10", "one"}) {
    EXPECT_FALSE(number_of(text)) << text;
  }
}

TEST(DurationOf, HasAUnitOrIsInSeconds) {
  EXPECT_EQ(duration_of("10"), 10s);
  EXPECT_EQ(duration_of("10s"), 10s);
  EXPECT_EQ(duration_of("2min"), 2min);
  EXPECT_EQ(duration_of("500ms"), 500ms);
  EXPECT_EQ(duration_of("250us"), 250us);
  EXPECT_EQ(duration_of("1ns"), 1ns);
  EXPECT_EQ(duration_of("0.5s"), 500ms);
}

TEST(DurationOf, IsNeitherNothingNorBeyondMeasure) {
  for (const auto* const text :
       {"", "s", "0", "-1s", "0.1ns", "1h", "10 s", "10S", "nan", "inf", "1e9s"}) {
    EXPECT_FALSE(duration_of(text)) << text;
  }
}

TEST(ShareOf, IsAboveZeroAndUpToOne) {
  EXPECT_EQ(share_of("0.75"), 0.75);
  EXPECT_EQ(share_of("1"), 1.0);
  for (const auto* const text : {"", "0", "-0.5", "1.1", "0.5x", "nan", "50%"}) {
    EXPECT_FALSE(share_of(text)) << text;
  }
}

TEST(SwitchOf, IsOnOrOff) {
  EXPECT_EQ(switch_of("on"), true);
  EXPECT_EQ(switch_of("1"), true);
  EXPECT_EQ(switch_of("off"), false);
  EXPECT_EQ(switch_of("0"), false);
  EXPECT_FALSE(switch_of(""));
  EXPECT_FALSE(switch_of("yes"));
}

TEST(ListOf, HasCommasBetween) {
  EXPECT_THAT(list_of("a,b c,d"), ElementsAre("a", "b c", "d"));
  EXPECT_THAT(list_of("a,,b"), ElementsAre("a", "", "b"));
  EXPECT_THAT(list_of(""), ElementsAre());
}

TEST(Listed, HasAnOrBeforeTheLast) {
  const std::string_view words[] = {"a", "b", "c"};
  EXPECT_EQ(listed(words), "a, b or c");
  EXPECT_EQ(listed(std::span(words).first(2)), "a or b");
  EXPECT_EQ(listed(std::span(words).first(1)), "a");
  EXPECT_EQ(listed({}), "");
}

TEST(SecondsText, IsToTheMillisecond) {
  EXPECT_EQ(seconds_text(30s), "30 s");
  EXPECT_EQ(seconds_text(250ms), "0.25 s");
  EXPECT_EQ(seconds_text(29'999'700us), "30 s") << "what was asked for is taken up a little later";
  EXPECT_EQ(seconds_text(100'000s + 1ms), "100000.001 s");
  EXPECT_EQ(milliseconds_text(210us), "0.210 ms");
  EXPECT_EQ(milliseconds_text(1s), "1000.000 ms");
}

TEST(SizeText, IsInTheLargestUnit) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(512), "512 B");
  EXPECT_EQ(size_text(1024), "1 KiB");
  EXPECT_EQ(size_text(std::size_t{64} << 10), "64 KiB");
  EXPECT_EQ(size_text(std::size_t{1} << 40), "1 TiB");
  EXPECT_EQ(size_text(std::size_t{1} << 52), "4096 TiB");
}

TEST(RanksText, NamesThemAndOfManyTheFirst) {
  EXPECT_EQ(ranks_text({3}), "rank 3");
  EXPECT_EQ(ranks_text({1, 4, 5}), "ranks 1, 4, 5");
  const std::vector<std::uint32_t> most(ranks_shown_max, 7);
  EXPECT_TRUE(ranks_text(most).ends_with(", 7"));
  auto more = most;
  more.push_back(8);
  EXPECT_EQ(ranks_text(more), ranks_text(most) + " and more");
}

TEST(Misread, SaysWhatWasWrittenAndWhatIsWanted) {
  const auto error = misread("TRIBUTARY_RANK", "x", a_number(0, 15)).value();
  EXPECT_EQ(error.code, Error::Code::invalid_argument);
  EXPECT_EQ(error.message, "TRIBUTARY_RANK=x is not a number from 0 to 15");
}

}  // namespace
}  // namespace tributary::host
