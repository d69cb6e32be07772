// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/partitions.h"

#include <set>

#include <gtest/gtest.h>

#include "protocols/canary/wire.h"

namespace tributary::canary {
namespace {

using namespace std::chrono_literals;

TEST(Partitions, NoneMeansNoPartition) {
  EXPECT_FALSE(Partitions(0, 64).enabled());
  EXPECT_TRUE(Partitions(2, 64).enabled());
  EXPECT_EQ(Partitions(3, 64).size(), 16u);
}

TEST(Partitions, FirstComeFirstServedAndNoMoreThanThereAre) {
  Partitions parts(2, 64);
  EXPECT_EQ(parts.slot_of(7, 0), Partitions::none);
  EXPECT_TRUE(parts.admit(7, 0, Time{}, 1s));
  EXPECT_TRUE(parts.admit(8, 0, Time{}, 1s));
  EXPECT_TRUE(parts.admit(7, 0, Time{}, 1s)) << "has one";
  EXPECT_FALSE(parts.admit(9, 0, Time{}, 1s));
  EXPECT_EQ(parts.slot_of(9, 0), Partitions::none);
}

TEST(Partitions, BlocksInFlightHaveSlotsOfTheirOwnWithinThePart) {
  Partitions parts(3, 64);
  parts.admit(1, 0, Time{}, 1s);
  parts.admit(2, 0, Time{}, 1s);
  std::set<std::uint32_t> slots;
  for (std::uint32_t sequence = 1000; sequence < 1016; ++sequence) {
    slots.insert(parts.slot_of(1, wire::canary_id(sequence, 0)));
    slots.insert(parts.slot_of(2, wire::canary_id(sequence, 3)));
  }
  EXPECT_EQ(slots.size(), 32u);
  EXPECT_LT(*slots.rbegin(), 32u);
}

TEST(Partitions, BlocksInFlightHaveSlotsOfTheirOwnWhereNumbersWrap) {
  Partitions parts(3, 64);
  parts.admit(1, 0, Time{}, 1s);
  std::set<std::uint32_t> slots;
  for (std::uint32_t i = 0; i < parts.size(); ++i) {
    slots.insert(parts.slot_of(1, wire::canary_sequence(0u - 5u + i)));
  }
  EXPECT_EQ(slots.size(), parts.size());
}

TEST(Partitions, GivenToAnotherJobWhenEmptyAndSilent) {
  Partitions parts(1, 8);
  ASSERT_TRUE(parts.admit(1, 0, Time{}, 1s));
  const auto slot = parts.slot_of(1, 5);
  parts.add(slot, Time{2s});
  EXPECT_FALSE(parts.admit(2, 0, Time{9s}, 1s)) << "holds a descriptor";
  parts.remove(slot);
  EXPECT_FALSE(parts.admit(2, 0, Time{3s} - 1ns, 1s)) << "spoke just now";
  EXPECT_TRUE(parts.admit(2, 0, Time{3s}, 1s));
  EXPECT_EQ(parts.slot_of(1, 5), Partitions::none);
}

TEST(Partitions, ReservedPartsAreNotForStrangers) {
  Partitions parts(3, 9);
  EXPECT_TRUE(parts.admit(100, 2, Time{}, 1s));
  EXPECT_FALSE(parts.admit(101, 2, Time{}, 1s));
  EXPECT_TRUE(parts.admit(1, 0, Time{}, 1s));
  EXPECT_TRUE(parts.admit(2, 0, Time{}, 1s));
}

}  // namespace
}  // namespace tributary::canary
