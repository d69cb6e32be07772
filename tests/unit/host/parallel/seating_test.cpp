// SPDX-License-Identifier: BSD-3-Clause
#include "host/parallel/seating.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

using Ranks = std::vector<std::uint32_t>;

TEST(Seating, MachinesAreInTheOrderOfTheirFirstRanks) {
  const Seating seating(std::vector<std::uint64_t>{7, 3, 7, 9, 3, 7});
  ASSERT_EQ(seating.machines(), 3u);
  EXPECT_EQ(seating.ranks(), 6u);
  EXPECT_EQ(seating.ranks_of(0), (Ranks{0, 2, 5}));
  EXPECT_EQ(seating.ranks_of(1), (Ranks{1, 4}));
  EXPECT_EQ(seating.ranks_of(2), (Ranks{3}));
  EXPECT_EQ(seating.machine_of(4), 1u);
  EXPECT_EQ(seating.local_rank(4), 1u);
  EXPECT_EQ(seating.local_rank(5), 2u);
  EXPECT_TRUE(seating.is_shared());
}

TEST(Seating, WhereNothingIsKnownARankIsAlone) {
  const Seating seating(std::vector<std::uint64_t>{0, 5, 0});
  EXPECT_EQ(seating.machines(), 3u);
  EXPECT_FALSE(seating.is_shared());
}

TEST(MachineNumber, IsTheSameInAProcessUnlessAddressesDiffer) {
  EXPECT_NE(machine_number(""), 0u);
  EXPECT_EQ(machine_number(""), machine_number(""));
  EXPECT_EQ(machine_number("10.0.0.1"), machine_number("10.0.0.1"));
  EXPECT_NE(machine_number("10.0.0.1"), machine_number("10.0.0.2"));
}

}  // namespace
}  // namespace tributary::host::test
