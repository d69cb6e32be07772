// SPDX-License-Identifier: BSD-3-Clause
// Tests the consequences of a plan. tests/unit/control/fabric_ctl_test.cpp tests that plans avoid
// switches that do not answer, or that object.
#include "controller/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tributary::controller {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

PlacedPart part_of_plan(std::size_t sw, std::uint32_t job, std::uint16_t tree) {
  return {sw, {job, tree, wire::Ipv4Address(239, 0, 0, 1), {"h1"}, "up", 2, 1, 2}};
}

// Job 1 has two trees, job 2 has no place, job 3 has one.
Plan plan_of_three_jobs() {
  Plan plan;
  plan.placement.jobs = {
      {1,
       {{0, 0, wire::Ipv4Address(239, 0, 0, 1), {part_of_plan(0, 1, 0), part_of_plan(1, 1, 0)}},
        {1, 1, wire::Ipv4Address(239, 0, 0, 2), {part_of_plan(1, 1, 1)}}}},
      {2, {}},
      {3, {{0, 0, wire::Ipv4Address(239, 0, 0, 3), {part_of_plan(2, 3, 0)}}}}};
  return plan;
}

TEST(Plan, IsOfThePartsOfAllTrees) {
  EXPECT_THAT(plan_of_three_jobs().parts(),
              ElementsAre(part_of_plan(0, 1, 0), part_of_plan(1, 1, 0), part_of_plan(1, 1, 1),
                          part_of_plan(2, 3, 0)));
}

TEST(Plan, GoesAroundObjectionsToJobsThatHaveAPlace) {
  auto plan = plan_of_three_jobs();
  EXPECT_THAT(plan.detours(), IsEmpty());
  plan.objections.resize(3);
  for (std::uint32_t job = 1; job <= 3; ++job) {
    plan.objections[job - 1].job = job;
  }
  const auto detours = plan.detours();
  ASSERT_EQ(detours.size(), 2u);
  EXPECT_EQ(detours[0].job, 1u);
  EXPECT_EQ(detours[1].job, 3u);
}

TEST(Plan, IsCompleteWhereNoJobIsRefused) {
  Plan plan;
  EXPECT_TRUE(plan.complete());
  plan.placement.refusals.emplace_back();
  EXPECT_FALSE(plan.complete());
}

TEST(EnvironmentOf, SaysByWhichGroupsTheWorkersOfAJobSend) {
  FabricFile file;
  file.jobs = {{1, {0, 1, 2, 3}, 2, 4, "panama"}};
  file.shares = {1};
  const auto placed = plan_of_three_jobs().placement.jobs[0];
  const auto variables = environment_of(file, 0, placed);
  EXPECT_THAT(variables, Contains(Pair("TRIBUTARY_ALGORITHM", "panama")));
  EXPECT_THAT(variables, Contains(Pair("TRIBUTARY_JOB", "1")));
  EXPECT_THAT(variables, Contains(Pair("TRIBUTARY_TREES", "239.0.0.1,239.0.0.2")));
  EXPECT_THAT(variables, testing::Not(Contains(Pair("TRIBUTARY_SHARE", testing::_))));
}

TEST(EnvironmentOf, SaysWhichShareOfTheWorkersAResultNeeds) {
  FabricFile file;
  file.jobs = {{1, {0, 1, 2, 3}, 2, 3, "panama"}};
  file.shares = {0.75};
  EXPECT_THAT(environment_of(file, 0, plan_of_three_jobs().placement.jobs[0]),
              Contains(Pair("TRIBUTARY_SHARE", "0.75")));
}

}  // namespace
}  // namespace tributary::controller
