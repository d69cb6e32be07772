// SPDX-License-Identifier: BSD-3-Clause
#include "switch/icmp.h"

#include <cstring>

#include <gtest/gtest.h>

#include "support/frames.h"

namespace tributary::switching {
namespace {

using namespace std::chrono_literals;
using test::Ip;

const test::Endpoints asker{test::mac(1), test::mac(2), Ip(10, 0, 0, 1), Ip(10, 0, 0, 2)};
constexpr Ip router(10, 0, 0, 254);

class Icmp : public testing::Test {
 protected:
  static engine::Frame parsed(Packet& packet) { return engine::parse_frame(packet); }
  PacketPtr icmp_of_type(std::uint8_t type) {
    auto packet = test::make_echo(pool_, asker);
    test::l4_header<wire::IcmpHeader>(*packet).type = type;
    return packet;
  }

  HeapPacketPool pool_{8, 2048};
};

TEST_F(Icmp, AnswersWholeEchoRequests) {
  auto request = test::make_echo(pool_, asker);
  EXPECT_TRUE(is_echo_request(parsed(*request)));
  test::l4_of(*request)[30] ^= std::byte{1};
  EXPECT_FALSE(is_echo_request(parsed(*request))) << "which is damaged";
  auto stub = test::make_ip(pool_, asker, wire::ip_protocol::icmp, sizeof(wire::IcmpHeader) - 1);
  EXPECT_FALSE(is_echo_request(parsed(*stub)));
  auto other = icmp_of_type(wire::IcmpHeader::echo_request);
  auto& header = test::l4_header<wire::IcmpHeader>(*other);
  header.code = 1;
  header.checksum = std::uint16_t{0};
  header.checksum = wire::internet_checksum(test::l4_of(*other));
  EXPECT_FALSE(is_echo_request(parsed(*other))) << "of another code";
}

TEST_F(Icmp, AnAnswerIsTheRequestTurnedAround) {
  auto packet = test::make_echo(pool_, asker);
  auto& ip = test::ip_of(*packet);
  ip.ttl = 3;
  wire::finish_ipv4(ip);
  turn_into_echo_reply(parsed(*packet));
  EXPECT_EQ(ip.source, asker.destination);
  EXPECT_EQ(ip.destination, asker.source);
  EXPECT_EQ(ip.ttl, 64);
  EXPECT_EQ(ip.checksum.value(), wire::ipv4_header_checksum(ip));
  EXPECT_EQ(test::l4_header<wire::IcmpHeader>(*packet).type, wire::IcmpHeader::echo_reply);
  EXPECT_EQ(wire::internet_checksum(test::l4_of(*packet)), 0u);
}

TEST_F(Icmp, NoErrorIsAboutAnError) {
  for (const unsigned type : {3, 4, 5, 11, 12}) {
    auto error = icmp_of_type(static_cast<std::uint8_t>(type));
    EXPECT_FALSE(may_answer_with_error(parsed(*error))) << type;
  }
  for (const unsigned type : {0, 8, 13}) {
    auto message = icmp_of_type(static_cast<std::uint8_t>(type));
    EXPECT_TRUE(may_answer_with_error(parsed(*message))) << type;
  }
  auto stub = test::make_ip(pool_, asker, wire::ip_protocol::icmp, 4);
  EXPECT_FALSE(may_answer_with_error(parsed(*stub))) << "who knows what it was";
}

TEST_F(Icmp, NoErrorIsAboutALaterFragment) {
  auto packet = test::make_udp(pool_, asker, 1, 2);
  EXPECT_TRUE(may_answer_with_error(parsed(*packet)));
  test::ip_of(*packet).fragment = std::uint16_t{0x2000};
  EXPECT_TRUE(may_answer_with_error(parsed(*packet))) << "the first one, of several";
  test::ip_of(*packet).fragment = std::uint16_t{0x2001};
  EXPECT_FALSE(may_answer_with_error(parsed(*packet)));
}

TEST_F(Icmp, NoErrorIsAboutGroupsOrNobody) {
  const auto may = [&](test::Endpoints ends) {
    auto packet = test::make_udp(pool_, ends, 1, 2);
    return may_answer_with_error(parsed(*packet));
  };
  auto ends = asker;
  ends.destination_mac = wire::broadcast_mac;
  EXPECT_FALSE(may(ends));
  for (const auto address : {Ip(239, 0, 0, 1), Ip(255, 255, 255, 255)}) {
    ends = asker;
    ends.destination = address;
    EXPECT_FALSE(may(ends));
    ends = asker;
    ends.source = address;
    EXPECT_FALSE(may(ends));
  }
  ends = asker;
  ends.source = Ip{};
  EXPECT_FALSE(may(ends));
}

TEST_F(Icmp, AnErrorQuotesThePacketThatItIsAbout) {
  auto about = test::make_udp(pool_, asker, 1, 2, 100);
  auto error = pool_.allocate();
  ASSERT_TRUE(
      make_icmp_error(*error, parsed(*about), icmp_error::fragmentation_needed(1400), router));
  const auto& ip = test::ip_of(*error);
  EXPECT_EQ(ip.source, router);
  EXPECT_EQ(ip.destination, asker.source);
  EXPECT_EQ(ip.checksum.value(), wire::ipv4_header_checksum(ip));
  const auto& icmp = test::l4_header<wire::IcmpHeader>(*error);
  EXPECT_EQ(icmp.type, 3);
  EXPECT_EQ(icmp.code, 4);
  EXPECT_EQ(icmp.rest.value(), 1400u);
  EXPECT_EQ(wire::internet_checksum(test::l4_of(*error)), 0u);
  const auto quoted = test::l4_of(*error).subspan(sizeof icmp);
  ASSERT_EQ(quoted.size(), test::ip_of(*about).total_length.value());
  EXPECT_EQ(std::memcmp(quoted.data(), &test::ip_of(*about), quoted.size()), 0);
}

TEST_F(Icmp, AnErrorHasAtMost576Bytes) {
  auto about = test::make_udp(pool_, asker, 1, 2, 1400);
  auto error = pool_.allocate();
  ASSERT_TRUE(make_icmp_error(*error, parsed(*about), icmp_error::ttl_exceeded, router));
  EXPECT_EQ(test::ip_of(*error).total_length.value(), 576);
  EXPECT_EQ(error->length, sizeof(wire::EthernetHeader) + 576);
}

TEST_F(Icmp, AnErrorThatHasNoRoomIsNotMade) {
  HeapPacketPool small(1, 128);
  auto about = test::make_udp(pool_, asker, 1, 2, 100);
  auto error = small.allocate();
  EXPECT_FALSE(make_icmp_error(*error, parsed(*about), icmp_error::ttl_exceeded, router));
}

TEST(IcmpLimiter, AllowsABurstAndThenOneEachInterval) {
  IcmpLimiter limiter;
  auto now = Time{} + 100s;
  int allowed = 0;
  for (int i = 0; i < 100; ++i) {
    allowed += limiter.allow(now) ? 1 : 0;
  }
  EXPECT_EQ(allowed, 50);
  EXPECT_FALSE(limiter.allow(now + 5ms - 1ns));
  EXPECT_TRUE(limiter.allow(now + 5ms));
  EXPECT_FALSE(limiter.allow(now + 5ms));
  for (int i = 0; i < 100; ++i) {
    allowed += limiter.allow(now + 1h) ? 1 : 0;
  }
  EXPECT_EQ(allowed, 100) << "and a burst again";
}

}  // namespace
}  // namespace tributary::switching
