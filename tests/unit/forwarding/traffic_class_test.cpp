// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/traffic_class.h"

#include <gtest/gtest.h>

namespace tributary::forwarding {
namespace {

TrafficClass named(std::string name, std::vector<Codepoint> codepoints = {}) {
  TrafficClass made;
  made.name = std::move(name);
  made.codepoints = std::move(codepoints);
  return made;
}

TEST(ClassByMarking, IsTheOneThatNamesItOrTheOneForTheRest) {
  const std::vector classes{named("bulk", {{8}, {10}}), named("rest"), named("voice", {{46}})};
  const auto places = class_by_marking(classes);
  EXPECT_EQ(places[8], 0);
  EXPECT_EQ(places[10], 0);
  EXPECT_EQ(places[46], 2);
  EXPECT_EQ(places[0], 1);
  EXPECT_EQ(places[63], 1);
  EXPECT_EQ(places[marking_of_priority(1)], 1) << "no tag says anything";
}

TEST(ClassByMarking, GoesByPrioritiesOfTagsBesideCodepoints) {
  std::vector classes{named("rest"), named("roce", {{26}}), named("tagged")};
  classes[1].pcp = Priorities{0x08};
  classes[2].pcp = Priorities{0x81};
  const auto places = class_by_marking(classes);
  EXPECT_EQ(places[26], 1);
  EXPECT_EQ(places[marking_of_priority(3)], 1);
  EXPECT_EQ(places[marking_of_priority(0)], 2);
  EXPECT_EQ(places[marking_of_priority(7)], 2);
  EXPECT_EQ(places[marking_of_priority(4)], 0);
  EXPECT_EQ(places[0], 0) << "a class that has priorities only takes no codepoint";
}

TEST(ClassCapacity, IsWhatIsSaidOrAnEvenPartOfTheRest) {
  std::vector classes{named("bulk", {{8}}), named("rest"), named("voice", {{46}})};
  EXPECT_EQ(class_capacity(classes[0], classes, 900), 300u);
  classes[2].capacity_bytes = 100;
  EXPECT_EQ(class_capacity(classes[2], classes, 900), 100u);
  EXPECT_EQ(class_capacity(classes[0], classes, 900), 400u);
}

TEST(LosslessCapacity, IsThatOfAllClassesWithAPriority) {
  std::vector classes{named("roce", {{24}}), named("rest"), named("storage", {{32}})};
  EXPECT_EQ(lossless_capacity(classes, 900), 0u);
  classes[0].pfc_priority = 0;
  classes[2].pfc_priority = 4;
  classes[2].capacity_bytes = 100;
  EXPECT_EQ(lossless_capacity(classes, 900), 500u);
}

}  // namespace
}  // namespace tributary::forwarding
