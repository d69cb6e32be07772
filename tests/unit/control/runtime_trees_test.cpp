// SPDX-License-Identifier: BSD-3-Clause
#include "control/runtime_trees.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tree_parts.h"

namespace tributary::control {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(WithChange, TakesJobsAwayAndAddsInTheOrderOfJobAndTree) {
  RuntimeTrees trees = {{"leaf1", {part_of(7, 0), part_of(8, 0), part_of(9, 0)}}};
  trees = with_change(trees, "leaf1", {7, 9}, {part_of(9, 1), part_of(5, 0), part_of(9, 0)});
  EXPECT_THAT(trees["leaf1"],
              ElementsAre(part_of(5, 0), part_of(8, 0), part_of(9, 0), part_of(9, 1)));
}

TEST(WithChange, KnowsOnlySwitchesThatHaveTrees) {
  const RuntimeTrees trees = {{"leaf1", {part_of(7, 0)}}, {"leaf2", {part_of(7, 0)}}};
  EXPECT_EQ(with_change(trees, "leaf1", {7}, {}), (RuntimeTrees{{"leaf2", {part_of(7, 0)}}}));
  EXPECT_EQ(with_change(trees, "leaf3", {7}, {}), trees);
}

class AddTrees : public testing::Test {
 protected:
  AddTrees() {
    config_.switches.emplace_back().config.name = "leaf1";
    add_panama(config_);
  }
  std::string complaint(const RuntimeTrees& trees) {
    auto config = config_;
    const auto added = add_trees(config, trees);
    return added ? "" : added.error();
  }

  DaemonConfig config_;
};

TEST_F(AddTrees, NameTheTreeThatDoesNotFit) {
  EXPECT_EQ(complaint({{"leaf1", {part_of(7, 0), part_of(7, 1)}}}), "");
  EXPECT_EQ(complaint({{"leaf9", {part_of(7, 0)}}}), "there is no switch `leaf9`");
  auto part = part_of(7, 1);
  part.children = {"h1", "h9"};
  EXPECT_THAT(complaint({{"leaf1", {part_of(7, 0), part}}}),
              HasSubstr("switch leaf1, tree 1 of job 7: there is no port `h9`"));
}

TEST_F(AddTrees, SayWhichEngineIsOff) {
  auto part = part_of(7, 0);
  part.engine = "flare";
  EXPECT_EQ(complaint({{"leaf1", {part}}}),
            "switch leaf1, tree 0 of job 7: flare is off; add "
            "[switch.flare] to its configuration");
  part.engine = "canary";
  EXPECT_THAT(complaint({{"leaf1", {part}}}), HasSubstr("no engine `canary` takes trees"));
}

TEST_F(AddTrees, LeaveTheJobsOfTheFileAlone) {
  ASSERT_TRUE(add_trees(config_, {{"leaf1", {part_of(7, 0)}}}));
  EXPECT_THAT(complaint({{"leaf1", {part_of(7, 1)}}}),
              HasSubstr("the job is in the configuration file; take it out there"));
  EXPECT_EQ(complaint({{"leaf1", {part_of(8, 1)}}}), "");
}

TEST_F(AddTrees, TakeTheTreesOfTheFileAndThoseAddedAtRunTime) {
  auto current = config_;
  ASSERT_TRUE(add_trees(current, {{"leaf1", {part_of(6, 0)}}}));
  const RuntimeTrees added = {{"leaf1", {part_of(7, 0)}}};
  const auto changed = with_trees(current, config_, added);
  ASSERT_TRUE(changed);
  const auto& trees = changed->switches[0].config.protocols.find<panama::PanamaConfig>()->trees;
  ASSERT_EQ(trees.size(), 1u) << "what was added before is gone";
  EXPECT_EQ(trees[0].job, 7u);
  EXPECT_FALSE(with_trees(current, config_, {{"leaf9", {part_of(7, 0)}}}));
}

}  // namespace
}  // namespace tributary::control
