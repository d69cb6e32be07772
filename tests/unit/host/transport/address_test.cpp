// SPDX-License-Identifier: BSD-3-Clause
#include "host/transport/address.h"

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

TEST(Address, resolve_calls_what_it_cannot_read_by_its_name) {
  EXPECT_EQ(resolve("10.0.0.1", "--listen").error().message,
            "--listen '10.0.0.1': no port; write address:port");
  EXPECT_EQ(
      resolve("10.0.0.1:x").error().message,
      "rendezvous '10.0.0.1:x': the port is not a number from 1 to 65535; write address:port");
}

TEST(Address, resolve_reads_an_address_and_a_port) {
  const auto place = resolve("10.0.0.1:29500");
  ASSERT_TRUE(place);
  EXPECT_EQ(to_string(*place), "10.0.0.1:29500");
}

TEST(Address, resolve_reads_ipv6_in_brackets) {
  const auto place = resolve("[2001:db8:64::10.0.0.1]:29500");
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_EQ(place->address, wire::Ipv4Address(10, 0, 0, 1));
  EXPECT_EQ(to_string(*place), "[2001:db8:64::a00:1]:29500");
  EXPECT_EQ(*resolve(to_string(*place)), *place);
  EXPECT_NE(resolve("2001:db8:64::1:29500").error().message.find("stands in brackets"),
            std::string::npos);
  EXPECT_NE(resolve("[fe80::1]:29500").error().message.find("one of each link"), std::string::npos);
}

TEST(Address, names_of_sockets_are_of_either_version) {
  for (const auto* text :
       {"10.0.0.1:7", "[2001:db8:64::a00:1]:7", "[::1]:7", "[2001:db8::8a2e:e123:4567]:7"}) {
    EXPECT_EQ(to_string(from_sockaddr(to_sockaddr(*resolve(text)))), text);
  }
  EXPECT_EQ(to_sockaddr(*resolve("10.0.0.1:7")).bytes, sizeof(sockaddr_in));
}

TEST(Address, parse_ip_address_reads_both_versions) {
  EXPECT_EQ(to_string(*parse_ip_address("10.0.0.1")), "10.0.0.1");
  EXPECT_EQ(to_string(*parse_ip_address("2001:db8:64::10.0.0.1")), "2001:db8:64::a00:1");
  for (const auto* text : {"", "10.0.0", "2001:db8", "::g"}) {
    EXPECT_FALSE(parse_ip_address(text)) << text;
  }
}

}  // namespace
}  // namespace tributary::host::test
