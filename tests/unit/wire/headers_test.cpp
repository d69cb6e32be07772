// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>

#include <gtest/gtest.h>

#include "wire/arp.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/transport.h"

namespace tributary::wire {
namespace {

TEST(Headers, fields_lie_where_the_standards_put_them) {
  EXPECT_EQ(offsetof(EthernetHeader, type), 12U);
  EXPECT_EQ(offsetof(Ipv4Header, fragment), 6U);
  EXPECT_EQ(offsetof(Ipv4Header, protocol), 9U);
  EXPECT_EQ(offsetof(Ipv4Header, destination), 16U);
  EXPECT_EQ(offsetof(UdpHeader, checksum), 6U);
  EXPECT_EQ(offsetof(TcpHeader, checksum), 16U);
  EXPECT_EQ(offsetof(IcmpHeader, rest), 4U);
  EXPECT_EQ(offsetof(ArpHeader, operation), 6U);
  EXPECT_EQ(offsetof(ArpHeader, target_address), 24U);
}

TEST(MacAddress, group_bit_is_the_lowest_of_the_first_octet) {
  EXPECT_TRUE(broadcast_mac.is_group());
  EXPECT_TRUE((MacAddress{{0x03, 0, 0, 0, 0, 0}}.is_group()));
  EXPECT_FALSE((MacAddress{{0x02, 0xff, 0xff, 0xff, 0xff, 0xff}}.is_group()));
  EXPECT_TRUE(MacAddress{}.is_zero());
  EXPECT_FALSE((MacAddress{{0, 0, 0, 0, 0, 1}}.is_zero()));
}

TEST(Ipv4Address, orders_and_classifies_by_value) {
  EXPECT_EQ(Ipv4Address(10, 1, 2, 3).value(), 0x0a010203U);
  EXPECT_LT(Ipv4Address(10, 255, 255, 255), Ipv4Address(11, 0, 0, 0));
  EXPECT_TRUE(Ipv4Address(224, 0, 0, 1).is_multicast());
  EXPECT_TRUE(Ipv4Address(239, 255, 255, 255).is_multicast());
  EXPECT_FALSE(Ipv4Address(240, 0, 0, 1).is_multicast());
  EXPECT_TRUE(Ipv4Address(255, 255, 255, 255).is_broadcast());
  EXPECT_TRUE(Ipv4Address{}.is_unspecified());
}

TEST(Ipv4Header, fragments_are_told_by_offset_and_more_bit) {
  Ipv4Header ip;
  ip.fragment = Ipv4Header::dont_fragment;
  EXPECT_FALSE(ip.is_fragment());
  ip.fragment = Ipv4Header::more_fragments;
  EXPECT_TRUE(ip.is_fragment());
  ip.fragment = 1;
  EXPECT_TRUE(ip.is_fragment());
  ip.version_ihl = 0x4f;
  EXPECT_EQ(ip.version(), 4);
  EXPECT_EQ(ip.header_bytes(), 60U);
}

TEST(ArpHeader, only_ethernet_and_ipv4) {
  ArpHeader arp;
  EXPECT_TRUE(arp.is_ethernet_ipv4());
  arp.protocol_length = 16;
  EXPECT_FALSE(arp.is_ethernet_ipv4());
}

}  // namespace
}  // namespace tributary::wire
