// SPDX-License-Identifier: BSD-3-Clause
#include "controller/levels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabrics.h"

namespace tributary::controller {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::size_t pods_of_two = 2;
constexpr std::size_t leaf_count = 2 * pods_of_two;  // 0 to 3; spines are 4 to 7, cores 8 to 11
constexpr std::size_t switch_count = 12;

Seeds seeds_of_all(std::uint64_t seed) {
  return Seeds(switch_count, seed);
}
Seeds seeds_after(Seeds seeds, const std::vector<SeedChange>& changes) {
  for (const auto& change : changes) {
    seeds[change.switch_index] = change.seed;
  }
  return seeds;
}

TEST(Levels, AreThoseOnWhichSwitchesHaveSeveralWaysUp) {
  const auto levels = levels_with_a_choice(three_levels(pods_of_two, 2));
  ASSERT_EQ(levels.size(), 2u);
  EXPECT_EQ(levels[0].number, 1u);
  EXPECT_THAT(levels[0].switches, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(levels[1].number, 2u);
  EXPECT_THAT(levels[1].switches, ElementsAre(4, 5, 6, 7));
}

TEST(Levels, NoneNeedsASeedWhereOneLevelChooses) {
  EXPECT_THAT(levels_with_a_choice(two_levels(4, 2, 2)), IsEmpty());
  EXPECT_THAT(levels_with_a_choice(three_levels(pods_of_two, 1)), IsEmpty())
      << "a spine has one core";
  EXPECT_THAT(missing_seeds(two_levels(4, 2, 2), Seeds(6, 0)), IsEmpty());
  EXPECT_THAT(seed_faults(two_levels(4, 2, 2), Seeds(6, 0)), IsEmpty());
}

TEST(Levels, ParallelLinksAreSeveralWaysUpToo) {
  Builder builder;
  const auto leaf = builder.add_switch("leaf");
  const auto spine = builder.add_switch("spine");
  const auto core = builder.add_switch("core");
  builder.add_host(leaf);
  for (const char* number : {"a", "b"}) {
    builder.add_link(leaf, spine, number);
    builder.add_link(spine, core, number);
  }
  EXPECT_EQ(levels_with_a_choice(builder.topology).size(), 2u);
}

TEST(Levels, SwitchesWithoutHostsBelowAreOfNone) {
  auto topology = three_levels(pods_of_two, 2);
  topology.hosts.clear();
  EXPECT_THAT(levels_with_a_choice(topology), IsEmpty());
}

TEST(Seeds, EachLevelGetsOneAndThenNothingIsWrong) {
  const auto topology = three_levels(pods_of_two, 2);
  EXPECT_THAT(seed_faults(topology, seeds_of_all(0)),
              ElementsAre(HasSubstr("levels 1 and 2 have the same reduction_seed, 0")));
  const auto changes = missing_seeds(topology, seeds_of_all(0));
  ASSERT_EQ(changes.size(), 2 * leaf_count);
  EXPECT_EQ(changes.front(), (SeedChange{0, 1}));
  EXPECT_EQ(changes.back(), (SeedChange{7, 2}));
  const auto after = seeds_after(seeds_of_all(0), changes);
  EXPECT_THAT(seed_faults(topology, after), IsEmpty());
  EXPECT_THAT(missing_seeds(topology, after), IsEmpty());
}

TEST(Seeds, APlanTellsWhatIsWrongAfterwards) {
  const auto topology = three_levels(pods_of_two, 2);
  const auto plan = plan_seeds(topology, seeds_of_all(0));
  EXPECT_EQ(plan.changes, missing_seeds(topology, seeds_of_all(0)));
  EXPECT_THAT(plan.problems, IsEmpty());
  const auto none = plan_seeds(topology, seeds_of_all(5));
  EXPECT_THAT(none.changes, IsEmpty());
  EXPECT_THAT(none.problems, ElementsAre(HasSubstr("levels 1 and 2 have the same")));
}

TEST(Seeds, WhatSwitchesHaveStaysAndHoldsForTheirLevel) {
  const auto topology = three_levels(pods_of_two, 2);
  auto seeds = seeds_of_all(0);
  seeds[4] = 1;
  const auto after = seeds_after(seeds, missing_seeds(topology, seeds));
  EXPECT_EQ(after[4], 1u);
  EXPECT_EQ(after[7], 1u);
  EXPECT_EQ(after[0], 2u) << "1 is taken";
  EXPECT_EQ(after[8], 0u) << "cores choose nothing";
  EXPECT_THAT(seed_faults(topology, after), IsEmpty());
}

TEST(Seeds, WhereALevelDiffersNobodyKnowsWhichIsMeant) {
  const auto topology = three_levels(pods_of_two, 2);
  auto seeds = seeds_of_all(0);
  seeds[0] = 3;
  seeds[1] = 4;
  const auto after = seeds_after(seeds, missing_seeds(topology, seeds));
  EXPECT_EQ(after[2], 0u);
  EXPECT_EQ(after[4], 2u);
  EXPECT_THAT(
      seed_faults(topology, after),
      ElementsAre(HasSubstr("switches of level 1 have different reduction_seeds (0, 3, 4)")));
}

TEST(Seeds, WhoDoesNotAnswerIsLeftAlone) {
  const auto topology = three_levels(pods_of_two, 2);
  auto seeds = seeds_of_all(0);
  seeds[5].reset();
  const auto changes = missing_seeds(topology, seeds);
  EXPECT_EQ(changes.size(), 2 * leaf_count - 1);
  EXPECT_THAT(seed_faults(topology, seeds_after(seeds, changes)), IsEmpty());
}

}  // namespace
}  // namespace tributary::controller
