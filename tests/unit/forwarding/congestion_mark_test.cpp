// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/congestion_mark.h"

#include <gtest/gtest.h>

#include "support/frames.h"
#include "support/frames6.h"

namespace tributary::forwarding {
namespace {

constexpr std::uint8_t dscp_46 = 46 << 2;

class CongestionMark : public testing::Test {
 protected:
  PacketPtr frame(std::uint8_t tos) {
    const test::Endpoints ends{test::mac(1), test::mac(2), test::Ip(10, 0, 0, 1),
                               test::Ip(10, 0, 0, 2)};
    auto packet = test::make_udp(pool_, ends, 1, 2);
    test::ip_of(*packet).tos = tos;
    wire::finish_ipv4(test::ip_of(*packet));
    return packet;
  }
  PacketPtr frame6(std::uint8_t traffic_class) {
    const test::Endpoints6 ends{test::mac(1), test::mac(2), test::ip6(1, 1), test::ip6(1, 2)};
    auto packet = test::make_udp6(pool_, ends, 1, 2);
    test::ip6_of(*packet).version_class_flow = {
        static_cast<std::uint8_t>(0x60 | traffic_class >> 4),
        static_cast<std::uint8_t>(traffic_class << 4 | 0xa), 0xbb, 0xcc};
    return packet;
  }

  HeapPacketPool pool_{8, 1600};
};

TEST_F(CongestionMark, IsOnPacketsOfWhoUnderstandsIt) {
  for (std::uint8_t able = 1; able <= wire::ecn::mask; ++able) {
    const auto packet = frame(dscp_46 | able);
    EXPECT_TRUE(mark_congestion(*packet));
    EXPECT_EQ(test::ip_of(*packet).tos, dscp_46 | wire::ecn::ce);
    EXPECT_EQ(wire::internet_checksum(packet->bytes().subspan(14, 20)), 0u);
  }
  const auto packet = frame(dscp_46);
  EXPECT_FALSE(mark_congestion(*packet));
  EXPECT_EQ(test::ip_of(*packet).tos, dscp_46);
}

TEST_F(CongestionMark, IsOnPacketsOfIpv6AsWell) {
  for (std::uint8_t able = 1; able <= wire::ecn::mask; ++able) {
    const auto packet = frame6(dscp_46 | able);
    EXPECT_TRUE(mark_congestion(*packet));
    const auto marked = frame6(dscp_46 | wire::ecn::ce);
    EXPECT_EQ(test::ip6_of(*packet).version_class_flow, test::ip6_of(*marked).version_class_flow);
  }
  EXPECT_FALSE(mark_congestion(*frame6(dscp_46)));
}

TEST_F(CongestionMark, IsBehindATagAsWell) {
  const auto packet = test::tagged(frame(1), 10);
  EXPECT_TRUE(mark_congestion(*packet));
  test::take_tag(*packet);
  EXPECT_EQ(test::ip_of(*packet).tos, wire::ecn::ce);
}

TEST_F(CongestionMark, IsOnNothingElse) {
  auto arp = test::make_arp(pool_, wire::ArpHeader::request, {});
  EXPECT_FALSE(mark_congestion(*arp));
  auto stub = frame(1);
  stub->length = sizeof(wire::EthernetHeader) + 19;
  EXPECT_FALSE(mark_congestion(*stub));
  auto stub6 = frame6(1);
  stub6->length = sizeof(wire::EthernetHeader) + 39;
  EXPECT_FALSE(mark_congestion(*stub6));
  auto mislabelled = frame(1);
  test::ip_of(*mislabelled).version_ihl = 0x65;
  EXPECT_FALSE(mark_congestion(*mislabelled));
  auto mislabelled6 = frame6(1);
  test::ip6_of(*mislabelled6).version_class_flow[0] = 0x40;
  EXPECT_FALSE(mark_congestion(*mislabelled6));
}

}  // namespace
}  // namespace tributary::forwarding
