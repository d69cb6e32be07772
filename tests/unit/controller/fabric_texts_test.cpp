// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/controller/fabric_watch_test.cpp has switches that do not answer.
#include "controller/fabric_texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabrics.h"

namespace tributary::controller {
namespace {

using testing::ElementsAre;

// Has leaf1, leaf2, spine1 and spine2.
FabricFile file_with_two_jobs() {
  FabricFile file;
  file.topology = two_levels(2, 2, 1);
  file.jobs = {{7, {0, 1}}, {8, {0, 1}}};
  file.job_places = {{"f.toml", 12, 1, "", ""}, {"f.toml", 15, 1, "", ""}};
  return file;
}

TEST(ErrorsOf, StandWhereTheirJobsStandInTheFile) {
  const auto errors = errors_of(file_with_two_jobs(), {{8, "no room", "make some"}});
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(to_string(errors[0]), "f.toml:15:1: job 8: no room (make some)");
}

TEST(DetourTexts, NameJobSwitchAndReason) {
  Plan plan;
  plan.placement.jobs = {{7, {Tree{}}}, {8, {}}};
  plan.objections = {{2, 7, "full"}, {2, 8, "full"}};
  EXPECT_THAT(detour_texts(file_with_two_jobs(), plan),
              ElementsAre("job 7 goes around switch spine1, which refuses it: full"));
}

control::CallError refusal(const std::string& why) {
  return {control::CallError::Kind::failed, why, {control::ErrorCode::refused, why, nullptr}};
}

TEST(TextOfAFailure, SaysWhatTheSwitchesHaveNow) {
  const auto file = file_with_two_jobs();
  EXPECT_EQ(text_of(file, {0, refusal("no room"), false, {}}),
            "switch leaf1 refused: no room; nothing was changed");
  EXPECT_EQ(text_of(file, {2, refusal("no room"), true, {}}),
            "switch spine1 refused: no room; the others have what they had before");
  EXPECT_EQ(text_of(file, {2, refusal("gone"), true, {{0, "gone"}, {3, "late"}, {1, "gone"}}}),
            "switch spine1 refused: gone; the others have what they had before; leaf1, leaf2 could "
            "not be brought back (gone); spine2 could not be brought back (late): `tributaryctl "
            "fabric show` says what is there, once it answers");
}

TEST(TextOfAFailure, CallsNoRefusalWhatHadNoAnswer) {
  const control::CallError late{control::CallError::Kind::timeout, "no answer within 5000 ms", {}};
  EXPECT_EQ(text_of(file_with_two_jobs(), {0, late, false, {}}),
            "switch leaf1 failed: no answer within 5000 ms; nothing was changed");
  auto core = refusal("the packet core on CPU 3 did not answer");
  core.failure.code = control::ErrorCode::late;
  EXPECT_EQ(text_of(file_with_two_jobs(), {0, core, false, {}}),
            "switch leaf1 failed: the packet core on CPU 3 did not answer; nothing was changed");
}

}  // namespace
}  // namespace tributary::controller
