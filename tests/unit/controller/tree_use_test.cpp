// SPDX-License-Identifier: BSD-3-Clause
#include "controller/tree_use.h"

#include <gtest/gtest.h>

namespace tributary::controller {
namespace {

nlohmann::json row_with(nlohmann::json state) {
  return {{"switch", "leaf1"}, {"job", 7}, {"tree", 2}, {"state", std::move(state)}};
}

TEST(TreeUse, IsThatOfWhoseRowItIs) {
  const auto use = use_of(row_with({{"active", true}, {"idle_seconds", 0.5}}));
  ASSERT_TRUE(use);
  EXPECT_EQ(use->switch_name, "leaf1");
  EXPECT_EQ(use->job, 7u);
  EXPECT_EQ(use->tree, 2u);
  EXPECT_EQ(use->idle_s, 0.5);
}

TEST(TreeUse, LastsAsLongAsASilentJobMayBeAlive) {
  EXPECT_TRUE(use_of(row_with({{"active", false}, {"idle_seconds", silence_s - 0.1}})));
  EXPECT_FALSE(use_of(row_with({{"active", false}, {"idle_seconds", silence_s}})));
  EXPECT_TRUE(use_of(row_with({{"active", true}, {"idle_seconds", 1000}})));
}

TEST(TreeUse, IsNoneOfATreeThatNobodySentThrough) {
  EXPECT_FALSE(use_of(row_with({{"active", false}, {"idle_seconds", nullptr}})));
  EXPECT_FALSE(use_of(row_with({{"active", false}})));
}

TEST(TreeUse, IsTakenFromTheActivityWhereTheIdleTimeIsNotTold) {
  const auto use = use_of(row_with({{"active", true}}));
  ASSERT_TRUE(use);
  EXPECT_FALSE(use->idle_s);
}

TEST(TreeUse, IsNoneWhereTheDaemonDoesNotKnow) {
  EXPECT_FALSE(use_of(row_with(nullptr)));
  EXPECT_FALSE(use_of({{"switch", "leaf1"}}));
}

}  // namespace
}  // namespace tributary::controller
