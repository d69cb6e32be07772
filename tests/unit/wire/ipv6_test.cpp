// SPDX-License-Identifier: BSD-3-Clause
#include "wire/ipv6.h"

#include <gtest/gtest.h>

namespace tributary::wire {
namespace {

constexpr IpAddress host_of_rfc = IpAddress::of_halves(0x4037000000000000, 0x00010800200e8c6c);

TEST(Ipv6, groups_of_the_solicited_are_those_of_rfc_4291) {
  EXPECT_EQ(solicited_nodes(host_of_rfc),
            IpAddress::of_halves(0xff02000000000000, 0x00000001ff0e8c6c));
}

TEST(Ipv6, link_local_addresses_are_those_of_rfc_4291) {
  EXPECT_EQ(link_local_of({{0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde}}),
            IpAddress::of_halves(0xfe80000000000000, 0x365678fffe9abcde));
  EXPECT_EQ(link_local_of({{0x02, 0, 0, 0, 0, 1}}),
            IpAddress::of_halves(0xfe80000000000000, 0x000000fffe000001));
}

TEST(Ipv6, group_macs_are_those_of_rfc_2464) {
  EXPECT_EQ(group_mac_of(solicited_nodes(host_of_rfc)),
            (MacAddress{{0x33, 0x33, 0xff, 0x0e, 0x8c, 0x6c}}));
}

TEST(Ipv6, kinds_of_addresses) {
  EXPECT_TRUE(IpAddress().is_unspecified());
  EXPECT_TRUE(IpAddress::of_halves(0, 1).is_loopback());
  EXPECT_TRUE(IpAddress::of_halves(0xfe80000000000000, 1).is_link_local());
  EXPECT_TRUE(IpAddress::of_halves(0xfebfffffffffffff, 1).is_link_local());
  EXPECT_FALSE(IpAddress::of_halves(0xfec0000000000000, 1).is_link_local());
  EXPECT_FALSE(IpAddress::of_halves(0xfe7fffffffffffff, 1).is_link_local());
  EXPECT_TRUE(all_nodes.is_multicast());
  EXPECT_FALSE(IpAddress::of_halves(0xfeff000000000000, 1).is_multicast());
  EXPECT_FALSE(host_of_rfc.is_unspecified() || host_of_rfc.is_loopback() ||
               host_of_rfc.is_link_local() || host_of_rfc.is_multicast() || host_of_rfc.is_v4());
}

TEST(Ipv6, flow_labels_have_20_bits) {
  Ipv6Header ip;
  ip.version_class_flow = {0x6f, 0xf1, 0x23, 0x45};
  EXPECT_EQ(ip.flow_label(), 0x12345u);
  EXPECT_EQ(ip.version(), 6);
}

}  // namespace
}  // namespace tributary::wire
