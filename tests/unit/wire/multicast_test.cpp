// SPDX-License-Identifier: BSD-3-Clause
#include "wire/multicast.h"

#include <gtest/gtest.h>

namespace tributary::wire {
namespace {

TEST(Multicast, GroupsHaveTheirLinkLayerAddress) {
  EXPECT_EQ(multicast_mac(Ipv4Address(239, 192, 1, 2)),
            (MacAddress{{0x01, 0x00, 0x5e, 0x40, 0x01, 0x02}}));
  EXPECT_EQ(multicast_mac(Ipv4Address(239, 129, 0, 1)),
            (MacAddress{{0x01, 0x00, 0x5e, 0x01, 0x00, 0x01}}));
}

}  // namespace
}  // namespace tributary::wire
