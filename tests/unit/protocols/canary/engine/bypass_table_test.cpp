// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/bypass_table.h"

#include <array>

#include <gtest/gtest.h>

namespace tributary::canary {
namespace {

Bypassed bypassed_child(std::uint8_t number, std::uint64_t key = 1) {
  Bypassed bypassed;
  bypassed.key = key;
  bypassed.child = wire::Ipv4Address(10, 0, 0, number);
  bypassed.port = number;
  return bypassed;
}

TEST(BypassTable, WhatWasNotedIsTakenOnce) {
  BypassTable table(64, 1);
  EXPECT_FALSE(table.take(bypassed_child(1)));
  table.note(bypassed_child(1));
  table.note(bypassed_child(1));
  EXPECT_FALSE(table.take(bypassed_child(2)));
  EXPECT_TRUE(table.take(bypassed_child(1)));
  EXPECT_FALSE(table.take(bypassed_child(1)));
}

TEST(BypassTable, TheOldestOfItsSetMakesRoom) {
  BypassTable table(BypassTable::ways, 1);  // one set
  for (std::uint8_t number = 1; number <= BypassTable::ways; ++number) {
    table.note(bypassed_child(number));
  }
  table.note(bypassed_child(1));  // is the newest again
  table.note(bypassed_child(9));
  EXPECT_FALSE(table.take(bypassed_child(2)));
  for (const auto number : std::array<std::uint8_t, 4>{1, 3, 4, 9}) {
    EXPECT_TRUE(table.take(bypassed_child(number))) << int{number};
  }
}

TEST(BypassTable, OneThatWasTakenMakesRoomBeforeOthers) {
  BypassTable table(BypassTable::ways, 1);
  for (std::uint8_t number = 1; number <= BypassTable::ways; ++number) {
    table.note(bypassed_child(number));
  }
  EXPECT_TRUE(table.take(bypassed_child(4)));
  table.note(bypassed_child(5));
  for (const auto number : std::array<std::uint8_t, 4>{1, 2, 3, 5}) {
    EXPECT_TRUE(table.take(bypassed_child(number))) << int{number};
  }
}

// Blocks and workers have consecutive numbers.
TEST(BypassTable, NeighboursAmongBlocksAndChildrenDoNotMeetInOneSet) {
  BypassTable table(16384, 1);
  constexpr std::uint64_t blocks = 64;
  constexpr std::uint8_t children = 8;
  std::uint64_t remembered = 0;
  for (std::uint64_t key = 0; key < blocks; ++key) {
    for (std::uint8_t number = 0; number < children; ++number) {
      table.note(bypassed_child(number, key));
    }
  }
  for (std::uint64_t key = 0; key < blocks; ++key) {
    for (std::uint8_t number = 0; number < children; ++number) {
      remembered += table.take(bypassed_child(number, key)) ? 1 : 0;
    }
  }
  EXPECT_EQ(remembered, blocks * children);
}

TEST(BypassTable, RemembersAsManyAsItHasRoomForOrNearlySo) {
  constexpr std::uint64_t count = 1024;
  BypassTable table(4 * count, 1);
  std::uint64_t remembered = 0;
  for (std::uint64_t key = 0; key < count; ++key) {
    table.note(bypassed_child(1, key));
  }
  for (std::uint64_t key = 0; key < count; ++key) {
    remembered += table.take(bypassed_child(1, key)) ? 1 : 0;
  }
  EXPECT_GT(remembered, count * 98 / 100);
}

}  // namespace
}  // namespace tributary::canary
