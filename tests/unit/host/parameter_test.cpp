// SPDX-License-Identifier: BSD-3-Clause
#include "host/parameter.h"

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

using Kind = Parameter::Kind;
using namespace std::chrono_literals;

constexpr Parameter table[] = {
    {.name = "tries", .otherwise = "4", .agreed = true, .least = 1, .most = 15},
    {.name = "part", .kind = Kind::share, .otherwise = "0.5", .agreed = true},
    {.name = "fast", .kind = Kind::on_or_off, .otherwise = "on", .agreed = true},
    {.name = "wait", .kind = Kind::duration},
    {.name = "names", .kind = Kind::list, .agreed = true},
};

TEST(Values, AreAsGivenOrTheUsualOnes) {
  Parameters given;
  const Values values(given, table);
  EXPECT_EQ(values.number("tries"), 4u);
  EXPECT_EQ(values.share("part"), 0.5);
  EXPECT_TRUE(values.on("fast"));
  EXPECT_EQ(values.duration("wait"), 0ns);
  EXPECT_TRUE(values.list("names").empty());
  EXPECT_FALSE(values.given("tries"));
  given = {{"tries", "7"}, {"fast", "off"}, {"wait", "20us"}, {"names", "a,b"}};
  EXPECT_EQ(values.number("tries"), 7u);
  EXPECT_FALSE(values.on("fast"));
  EXPECT_EQ(values.duration("wait"), 20us);
  EXPECT_EQ(values.list("names"), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(values.given("tries"));
}

TEST(Values, ThatHaveToBeAgreedOnAreNumbersInTheirOrder) {
  const Parameters given{{"names", "123456789"}};
  EXPECT_EQ(Values(given, table).agreed(7),
            (std::vector<std::uint32_t>{4, 4, 1, 0xcbf43926}));  // CRC-32's check value
}

// Returns whether two ranks with these values of a parameter agree.
bool agree(const std::string& name, const std::string& one, const std::string& other,
           std::uint32_t world_size = 2) {
  const Parameters given{{name, one}};
  const Parameters also_given{{name, other}};
  return Values(given, table).agreed(world_size) == Values(also_given, table).agreed(world_size);
}

TEST(Values, SharesAreTheSameThatComeToAsManyRanks) {
  EXPECT_TRUE(agree("part", "0.7", "0.75", 4));
  EXPECT_FALSE(agree("part", "0.666667", "0.6666666666666666", 3));
}

TEST(Values, ListsAreComparedByTheirEntries) {
  EXPECT_TRUE(agree("names", "a,b,", "a,b"));
  EXPECT_FALSE(agree("names", "a,b", "b,a"));
  EXPECT_FALSE(agree("names", "ab", "a,b"));
}

TEST(Parameter, TextsAreChecked) {
  const auto complaint = [](const Parameter& parameter, const std::string& text) {
    const auto checked = check(parameter, text);
    return checked ? "" : checked.error().message;
  };
  EXPECT_EQ(complaint(table[0], "15"), "");
  EXPECT_EQ(complaint(table[0], "16"), "TRIBUTARY_TRIES=16 is not a number from 1 to 15");
  EXPECT_EQ(complaint(table[1], "1e-12"), "TRIBUTARY_PART=1e-12 is not a share from 0.0001 to 1");
  EXPECT_EQ(complaint(table[1], "0.0001"), "");
  EXPECT_EQ(complaint(table[1], "1.5"), "TRIBUTARY_PART=1.5 is not a share from 0.0001 to 1");
  EXPECT_EQ(complaint(table[2], "yes"), "TRIBUTARY_FAST=yes is not on or off");
  EXPECT_NE(complaint(table[3], "soon").find("is not a duration"), std::string::npos);
  EXPECT_EQ(complaint(table[4], "anything"), "");
}

TEST(Parameter, SaysWhatItsTextIsToBe) {
  EXPECT_EQ(wanted(table[0]), "a number from 1 to 15");
  EXPECT_EQ(wanted(table[2]), "on or off");
  EXPECT_EQ(wanted(table[4]), "a list with commas between");
  EXPECT_EQ(wanted({.name = "device", .kind = Kind::text}), "");
}

}  // namespace
}  // namespace tributary::host::test
