// SPDX-License-Identifier: BSD-3-Clause
#include "controller/obstacles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabrics.h"

namespace tributary::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Obstacles, AreNoneInAFabricThatIsWhole) {
  EXPECT_THAT(obstacles(two_levels(2, 2, 1)), IsEmpty());
}

TEST(Obstacles, SaySwitchesWithTheSameFaultOnce) {
  auto topology = two_levels(3, 2, 1);
  topology.switches[0].unusable = "does not answer";
  topology.switches[1].unusable = "has no engine";
  topology.switches[3].unusable = "does not answer";
  topology.links[5].unusable = "port leaf3:spine2 is down";
  EXPECT_THAT(obstacles(topology),
              ElementsAre("each of leaf1, spine1 does not answer", "switch leaf2 has no engine",
                          "port leaf3:spine2 is down"));
}

TEST(Obstacles, AreNoHosts) {
  auto topology = two_levels(2, 2, 1);
  topology.hosts[0].unusable = "its port is down";
  EXPECT_THAT(obstacles(topology), IsEmpty()) << "trees do not lead through them";
}

}  // namespace
}  // namespace tributary::controller
