// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/priorities.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "forwarding/flow_control.h"
#include "support/frames.h"
#include "support/frames6.h"

namespace tributary::forwarding {
namespace {

TEST(PrioritiesText, IsReadAndWritten) {
  EXPECT_EQ(priorities_named("3"), Priorities{0x08});
  EXPECT_EQ(priorities_named("4,0,7"), Priorities{0x91});
  EXPECT_EQ(to_string(Priorities{0x91}), "0,4,7");
  for (const auto* text : {"", "8", "3,", ",3", "3,3", "33", "3 4", "a", "3-5"}) {
    EXPECT_FALSE(priorities_named(text)) << text;
  }
}

TEST(PriorityOf, IsTheClassSelectorOfIpv6) {
  HeapPacketPool pool(4, 1600);
  const auto packet =
      test::make_udp6(pool, {test::mac(1), test::mac(2), test::ip6(1, 1), test::ip6(1, 2)}, 1, 2);
  constexpr std::uint8_t af31 = 26;
  test::ip6_of(*packet).version_class_flow[0] = 0x60 | af31 >> 2;
  test::ip6_of(*packet).version_class_flow[1] = (af31 & 3) << 6;
  EXPECT_EQ(priority_of(*packet), 3u);
}

TEST(PriorityOf, IsNoneOfWhatIsNotIp) {
  HeapPacketPool pool(4, 1600);
  auto arp = test::make_frame(pool, test::mac(1), test::mac(2), wire::ethertype::arp, 46);
  std::fill(arp->data() + 14, arp->data() + 60, std::byte{0xff});
  EXPECT_EQ(priority_of(*arp), 0u);
  arp->length = 14;
  EXPECT_EQ(priority_of(*arp), 0u);
}

TEST(PriorityOf, IsThatOfThePacketBehindATag) {
  HeapPacketPool pool(4, 1600);
  auto packet = test::make_udp(
      pool, {test::mac(1), test::mac(2), test::Ip(10, 0, 0, 1), test::Ip(10, 0, 0, 2)}, 1, 2);
  test::ip_of(*packet).tos = 56 << 2;
  packet = test::tagged(std::move(packet), 3u << wire::vlan_priority_shift | 10);
  EXPECT_EQ(priority_of(*packet), 7u);
  packet->length = 17;
  EXPECT_EQ(priority_of(*packet), 0u);
}

}  // namespace
}  // namespace tributary::forwarding
