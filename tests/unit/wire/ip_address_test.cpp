// SPDX-License-Identifier: BSD-3-Clause
#include "wire/ip_address.h"

#include <gtest/gtest.h>

namespace tributary::wire {
namespace {

TEST(IpAddress, ipv4_is_mapped) {
  const IpAddress address(Ipv4Address(10, 1, 2, 3));
  EXPECT_TRUE(address.is_v4());
  EXPECT_EQ(address.v4(), Ipv4Address(10, 1, 2, 3));
  const std::array<std::uint8_t, 16> mapped = {0, 0, 0,    0,    0,  0, 0, 0,
                                               0, 0, 0xff, 0xff, 10, 1, 2, 3};
  EXPECT_EQ(address.octets(), mapped);
  EXPECT_EQ(IpAddress(mapped), address);
}

TEST(IpAddress, ipv6_keeps_its_octets) {
  const std::array<std::uint8_t, 16> octets = {0xfd, 1, 2,  3,  4,  5,  6,  7,
                                               8,    9, 10, 11, 12, 13, 14, 15};
  const IpAddress address(octets);
  EXPECT_FALSE(address.is_v4());
  EXPECT_EQ(address.octets(), octets);
}

TEST(IpAddress, order_is_that_of_the_octets) {
  std::array<std::uint8_t, 16> a = {0xfd};
  std::array<std::uint8_t, 16> b = a;
  b[15] = 1;
  a[8] = 0x80;
  EXPECT_LT(IpAddress(b), IpAddress(a));
  EXPECT_LT(IpAddress(Ipv4Address(10, 0, 0, 1)), IpAddress(Ipv4Address(10, 0, 0, 2)));
  EXPECT_NE(IpAddress(a), IpAddress());
}

}  // namespace
}  // namespace tributary::wire
