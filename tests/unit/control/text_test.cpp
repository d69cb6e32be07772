// SPDX-License-Identifier: BSD-3-Clause
#include "control/text.h"

#include <gtest/gtest.h>

namespace tributary::control {
namespace {

using namespace std::chrono_literals;

TEST(TextTest, parse_duration_knows_every_unit) {
  EXPECT_EQ(*parse_duration("5ns"), 5ns);
  EXPECT_EQ(*parse_duration("5us"), 5us);
  EXPECT_EQ(*parse_duration("1.5ms"), 1500us);
  EXPECT_EQ(*parse_duration("300s"), 300s);
  EXPECT_EQ(*parse_duration("2 min"), 2min);
  EXPECT_EQ(*parse_duration("1.5h"), 90min);
  EXPECT_EQ(*parse_duration("30d"), 720h);
  EXPECT_EQ(*parse_duration("0"), 0ns);
}

TEST(TextTest, parse_duration_refuses_what_is_none) {
  for (const char* text : {"", "ms", "-1ms", "1", "1e3ms", "infms", "nan", "1mss", "9999999999s"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(TextTest, quantities_that_are_negative_are_called_so) {
  EXPECT_EQ(parse_duration("-5s").error().message, "`-5s` is negative; a duration is positive");
  EXPECT_EQ(parse_rate("-1Gbit").error().message, "`-1Gbit` is negative; a rate is positive");
  EXPECT_EQ(parse_duration("9999999999s").error().message, "`9999999999s` is out of range");
}

TEST(TextTest, parse_rate_is_decimal_and_parse_size_is_both) {
  EXPECT_EQ(*parse_rate("2.5Gbit"), 2'500'000'000u);
  EXPECT_EQ(*parse_rate("64kbit"), 64'000u);
  EXPECT_EQ(*parse_rate("1Tbit"), 1'000'000'000'000u);
  EXPECT_EQ(*parse_size("1MiB"), 1u << 20);
  EXPECT_EQ(*parse_size("1MB"), 1'000'000u);
}

TEST(TextTest, quantities_read_back_what_they_print) {
  EXPECT_EQ(duration_text(1500us), "1500us");
  EXPECT_EQ(duration_text(0ns), "0ns");
  EXPECT_EQ(duration_text(60min), "1h");
  EXPECT_EQ(duration_text(720h), "30d");
  EXPECT_EQ(rate_text(200'000'000), "200Mbit");
  EXPECT_EQ(size_text(1 << 20), "1MiB");
  for (const std::uint64_t value : {1ull, 999ull, 1024ull, 1'000'000ull, 123'456'789ull}) {
    EXPECT_EQ(*parse_size(size_text(value)), value);
    EXPECT_EQ(*parse_rate(rate_text(value)), value);
  }
}

TEST(TextTest, parse_ipv4_takes_dotted_quads_only) {
  EXPECT_EQ(*parse_ipv4("10.1.2.3"), wire::Ipv4Address(10, 1, 2, 3));
  for (const char* text : {"", "10", "10.1.2", "10.1.2.3.4", "256.1.1.1", "10.01.2.3", "10.1.2.3 ",
                           "10..2.3", "10.1.2.3/24", "a.b.c.d", "-1.0.0.0", "0.0.0.0", "127.0.0.1",
                           "224.0.0.1", "255.255.255.255"}) {
    EXPECT_FALSE(parse_ipv4(text)) << text;
  }
}

TEST(TextTest, parse_ip_takes_both_versions) {
  EXPECT_EQ(*parse_ip("10.1.2.3"), wire::IpAddress(wire::Ipv4Address(10, 1, 2, 3)));
  EXPECT_EQ(to_string(*parse_ip("10.1.2.3")), "10.1.2.3");
  EXPECT_EQ(to_string(*parse_ip("FD00:0:0::00a1")), "fd00::a1");
  for (const char* text : {"", "fd00", "fd00::1::2", "fd00::1/64", "::", "::1", "ff02::1",
                           "::ffff:10.0.0.1", "127.0.0.1", "fd00::1 ", "10.0.0.1:4791"}) {
    EXPECT_FALSE(parse_ip(text)) << text;
  }
  EXPECT_FALSE(parse_ip(std::string_view("fd00::1\0x", 9)));
}

TEST(TextTest, parse_prefix_wants_no_host_bits) {
  EXPECT_EQ(to_string(*parse_prefix("0.0.0.0/0")), "0.0.0.0/0");
  EXPECT_EQ(to_string(*parse_prefix("10.1.2.3/32")), "10.1.2.3/32");
  EXPECT_EQ(parse_prefix("10.1.2.3/8").error().hint, "did you mean \"10.0.0.0/8\"?");
  for (const char* text : {"10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8x"}) {
    EXPECT_FALSE(parse_prefix(text)) << text;
  }
}

TEST(TextTest, parse_interface_address_allows_point_to_point) {
  EXPECT_TRUE(parse_interface_address("10.0.0.0/31"));
  EXPECT_TRUE(parse_interface_address("10.0.0.1/31"));
  EXPECT_TRUE(parse_interface_address("10.0.0.1/32"));
  EXPECT_FALSE(parse_interface_address("10.0.0.0/30"));
  EXPECT_FALSE(parse_interface_address("10.0.0.3/30"));
  EXPECT_FALSE(parse_interface_address("10.0.0.1/0"));
}

TEST(TextTest, parse_vids_takes_numbers_and_ranges) {
  EXPECT_EQ(to_string(*parse_vids("10")), "10");
  EXPECT_EQ(to_string(*parse_vids(" 30-39, 1 ,4094,20-20")), "1,20,30-39,4094");
  for (const char* text : {"", ",", "10,", "0", "4095", "9-5", "1-", "-5", "1-2-3", "ten", "10 20",
                           "1-4095", "99999999999", "10,10", "1-5,3", "3,1-5", "+1"}) {
    EXPECT_FALSE(parse_vids(text)) << text;
  }
}

TEST(TextTest, parse_mac_is_strict) {
  EXPECT_EQ(to_string(*parse_mac("02:aB:00:00:00:ff")), "02:ab:00:00:00:ff");
  for (const char* text :
       {"", "02:00:00:00:00", "02:00:00:00:00:0g", "2:0:0:0:0:1:2:3:4", "01:00:00:00:00:00",
        "ff:ff:ff:ff:ff:ff", "00:00:00:00:00:00", "+2:00:00:00:00:01"}) {
    EXPECT_FALSE(parse_mac(text)) << text;
  }
}

}  // namespace
}  // namespace tributary::control
