// SPDX-License-Identifier: BSD-3-Clause
#include "controller/standing_objections.h"

#include <functional>

#include <gtest/gtest.h>

#include "fabrics.h"

namespace tributary::controller {
namespace {

Circumstances some() {
  Job job;
  job.id = 7;
  job.hosts = {0, 1};
  job.engine = "flare";
  return {{job}, {{"flare", two_levels(2, 2, 1)}}, {{0, {9, 0, {}, {"h1"}, {}, 1, 1, 1}}}};
}

const std::vector<Objection> full = {{2, 7, "full"}};

TEST(StandingObjections, HoldForSomeLooksWhereNothingChanges) {
  StandingObjections objections;
  EXPECT_TRUE(objections.at(some()).empty());
  objections.note(full);
  for (unsigned look = 1; look < StandingObjections::looks_max; ++look) {
    ASSERT_EQ(objections.at(some()).size(), 1u) << look;
    objections.note(full);
  }
  EXPECT_TRUE(objections.at(some()).empty()) << "the switches are asked again";
  objections.note(full);
  EXPECT_EQ(objections.at(some()).size(), 1u);
}

TEST(StandingObjections, AreForgottenWhenSomethingChanges) {
  const std::function<void(Circumstances&)> changes[] = {
      [](Circumstances& now) { now.jobs[0].settings["window"] = 16; },
      [](Circumstances& now) { now.jobs.clear(); },
      [](Circumstances& now) { now.topologies["flare"].switches[2].trees_max = 1; },
      [](Circumstances& now) { now.topologies["flare"].links[0].unusable = "port is down"; },
      [](Circumstances& now) { now.topologies["flare"].hosts[0].unusable = "port is down"; },
      [](Circumstances& now) { now.installed[0].part.job = 8; },
      [](Circumstances& now) { now.installed.clear(); }};
  for (const auto& change : changes) {
    StandingObjections objections;
    objections.at(some());
    objections.note(full);
    ASSERT_EQ(objections.at(some()).size(), 1u);
    auto changed = some();
    change(changed);
    EXPECT_TRUE(objections.at(changed).empty());
    objections.note(full);
    EXPECT_EQ(objections.at(changed).size(), 1u);
  }
}

}  // namespace
}  // namespace tributary::controller
