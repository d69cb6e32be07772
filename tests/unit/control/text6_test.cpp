// SPDX-License-Identifier: BSD-3-Clause
// Tests the functions of text.h for IPv6.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/text.h"

namespace tributary::control {
namespace {

using testing::HasSubstr;

// Returns the message about a text that is refused.
template <class T>
std::string complaint(const Parsed<T>& parsed) {
  return parsed ? "it was taken" : parsed.error().message + "; " + parsed.error().hint;
}

TEST(ParseIpv6, TakesAddressesOfHosts) {
  ASSERT_TRUE(parse_ipv6("fd00::1"));
  EXPECT_EQ(*parse_ipv6("fd00::1"), wire::IpAddress::of_halves(0xfd00000000000000, 1));
  EXPECT_EQ(to_string(*parse_ipv6("2001:DB8:0::0A")), "2001:db8::a");
}

TEST(ParseIpv6, RefusesWhatIsNone) {
  for (const auto* const text :
       {"", "10.0.0.1", "fd00::1/64", "fd00::g", "fd00", "::", "ff02::1"}) {
    EXPECT_FALSE(parse_ipv6(text)) << text;
  }
  EXPECT_FALSE(parse_ipv6(std::string_view("fd00::1\0", 8))) << "something stands behind a zero";
  EXPECT_THAT(complaint(parse_ipv6("10.0.0.1")),
              HasSubstr("is not an IPv6 address; write it like"));
  EXPECT_THAT(complaint(parse_ipv6("fe80::1")), HasSubstr("is an address of one link"));
}

TEST(ParsePrefix6, TakesNetworksOfAllLengths) {
  ASSERT_TRUE(parse_prefix6("2001:db8::/32"));
  EXPECT_EQ(parse_prefix6("2001:db8::/32")->length, 32);
  EXPECT_EQ(to_string(*parse_prefix6("2001:db8::/32")), "2001:db8::/32");
  EXPECT_EQ(to_string(*parse_prefix6("::/0")), "::/0");
  EXPECT_EQ(to_string(*parse_prefix6("fd00::1/128")), "fd00::1/128");
}

TEST(ParsePrefix6, RefusesWhatIsNone) {
  EXPECT_THAT(complaint(parse_prefix6("2001:db8::1/32")),
              HasSubstr("has host bits set; did you mean \"2001:db8::/32\"?"));
  EXPECT_THAT(complaint(parse_prefix6("2001:db8::")), HasSubstr("has no prefix length"));
  EXPECT_THAT(complaint(parse_prefix6("10.0.0.0/8")), HasSubstr("is not an IPv6 address"));
  for (const auto* const text :
       {"fd00::/129", "fd00::/", "fd00::/-1", "fd00::/64x", "fd00::/ 64"}) {
    EXPECT_THAT(complaint(parse_prefix6(text)), HasSubstr("is not 0 to 128")) << text;
  }
}

TEST(ParseInterfaceAddress6, TakesAHostInItsPrefix) {
  ASSERT_TRUE(parse_interface_address6("2001:db8:1::1/64"));
  EXPECT_EQ(to_string(*parse_interface_address6("2001:db8:1::1/64")), "2001:db8:1::1/64");
  EXPECT_TRUE(parse_interface_address6("2001:db8::1/16"));
  EXPECT_TRUE(parse_interface_address6("2001:db8::2/127"));
  EXPECT_TRUE(parse_interface_address6("2001:db8::2/128"));
}

TEST(ParseInterfaceAddress6, RefusesWhatNoInterfaceHas) {
  EXPECT_THAT(complaint(parse_interface_address6("fe80::1/64")), HasSubstr("of one link"));
  EXPECT_THAT(complaint(parse_interface_address6("2001:db8::1/15")), HasSubstr("is too wide"));
  EXPECT_THAT(complaint(parse_interface_address6("2001:db8:1::/64")),
              HasSubstr("is the anycast address of its routers"));
  EXPECT_THAT(complaint(parse_interface_address6("2001:db8::2/126")), HasSubstr("it was taken"));
  EXPECT_THAT(complaint(parse_interface_address6("2001:db8::4/126")), HasSubstr("anycast"));
  EXPECT_THAT(complaint(parse_interface_address6("2001:db8:1::1")), HasSubstr("no prefix length"));
}

}  // namespace
}  // namespace tributary::control
