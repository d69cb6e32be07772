// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/next_hop_health.h"

#include <gtest/gtest.h>

#include "support/frames6.h"

namespace tributary::forwarding {
namespace {

struct HopOfTest {
  wire::IpAddress via;
  PortIndex interface;
};
const HopOfTest over4{test::Ip(10, 0, 0, 1), 1};
const HopOfTest over6{test::ip6(1, 1), 1};
const HopOfTest other6{test::ip6(2, 1), 2};
using Usable = std::vector<bool>;

Usable usable_of(const NextHopHealth& health) {
  Usable usable{true};  // of earlier
  health.find_usable(std::vector{over4, over6, other6}, usable);
  return usable;
}

TEST(NextHopHealth, AllCanBeChosenUntilSomethingIsKnown) {
  EXPECT_EQ(usable_of({}), (Usable{true, true, true}));
}

TEST(NextHopHealth, ANeighbourAilsByItsAddressAndALinkTakesAllBehindItAlong) {
  NextHopHealth health;
  health.set_unhealthy({{over6.via, Ailment::dead}});
  EXPECT_EQ(usable_of(health), (Usable{true, false, true}));
  health.set_interface_up(1, false);
  EXPECT_EQ(usable_of(health), (Usable{false, false, true}));
  health.set_interface_up(2, false);
  EXPECT_EQ(usable_of(health), (Usable{false, false, false}));
  health.set_interface_up(1, true);
  EXPECT_EQ(usable_of(health), (Usable{true, false, false}));
  health.set_unhealthy({});
  EXPECT_EQ(usable_of(health), (Usable{true, true, false}));
}

TEST(NextHopHealth, ThoseThatAreCutOffAreTakenLastAndDeadOnesNever) {
  NextHopHealth health;
  health.set_unhealthy({{over4.via, Ailment::cut_off}, {other6.via, Ailment::dead}});
  EXPECT_EQ(usable_of(health), (Usable{false, true, false}));
  health.set_unhealthy(
      {{over4.via, Ailment::cut_off}, {over6.via, Ailment::dead}, {other6.via, Ailment::dead}});
  EXPECT_EQ(usable_of(health), (Usable{true, false, false}));
}

TEST(NextHopHealth, CrowdedOnesAreKnownAndStay) {
  NextHopHealth health;
  health.set_unhealthy({{over6.via, Ailment::crowded}, {other6.via, Ailment::cut_off}});
  EXPECT_EQ(usable_of(health), (Usable{true, true, false}));
  EXPECT_TRUE(health.is_crowded(over6.via));
  EXPECT_FALSE(health.is_crowded(other6.via));
  EXPECT_FALSE(health.is_crowded(over4.via));
}

}  // namespace
}  // namespace tributary::forwarding
