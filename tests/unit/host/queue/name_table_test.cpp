// SPDX-License-Identifier: BSD-3-Clause
#include "host/queue/name_table.h"

#include <string>

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

constexpr Shape shape{Collective::allreduce, wire::ElementType::f32, wire::Operator::sum, 0, 8};

TEST(NameTable, NumbersNamesInTheOrderOfTheirAnnouncement) {
  NameTable table(4);
  table.announce("b", shape, 2);
  table.announce("a", {}, 0);
  EXPECT_EQ(table.find("b"), 0u);
  EXPECT_EQ(table.find("a"), 1u);
  EXPECT_FALSE(table.find("c"));
  EXPECT_EQ(table[0].announcer, 2u);
  EXPECT_EQ(table[0].shape, shape);
  EXPECT_TRUE(table[0].open);
}

TEST(NameTable, AnEndedNameKeepsItsNumber) {
  NameTable table(4);
  table.announce("a", shape, 0);
  table.end(0);
  EXPECT_FALSE(table[0].open);
  EXPECT_EQ(table.find("a"), 0u);
  table.announce("a", {}, 1);
  EXPECT_EQ(table.size(), 1u);
  EXPECT_EQ(table[0].shape, Shape{});
  EXPECT_TRUE(table[0].open);
}

TEST(NameTable, ANewNameTakesTheNumberOfTheOneThatEndedFirst) {
  NameTable table(3);
  for (const auto* name : {"a", "b", "c"}) {
    table.announce(name, shape, 0);
  }
  table.end(2);
  table.end(1);
  table.announce("d", shape, 0);
  EXPECT_EQ(table.find("d"), 2u);
  EXPECT_FALSE(table.find("c"));
  EXPECT_EQ(table.find("b"), 1u);
}

TEST(NameTable, OpenNamesKeepTheirNumbersHoweverManyThereAre) {
  NameTable table(2);
  for (const auto* name : {"a", "b", "c"}) {
    table.announce(name, shape, 0);
  }
  EXPECT_EQ(table.size(), 3u);
  EXPECT_EQ(table.find("a"), 0u);
  table.end(0);
  table.announce("d", shape, 0);
  EXPECT_EQ(table.size(), 3u);
  EXPECT_EQ(table.find("d"), 0u);
}

}  // namespace
}  // namespace tributary::host::test
