// SPDX-License-Identifier: BSD-3-Clause
#include "switch/bfd_packets.h"

#include <gtest/gtest.h>

#include "support/frames6.h"

namespace tributary::test {
namespace {

using switching::bfd_of;
using switching::BfdPath;
using switching::is_bfd;
using switching::make_bfd;

constexpr std::uint32_t discriminator_of_test = 4711;

wire::BfdHeader some_header() {
  wire::BfdHeader header;
  header.my_discriminator = discriminator_of_test;
  header.detect_multiplier = 3;
  header.state_flags = 0x40;
  return header;
}

class BfdPackets : public testing::Test {
 protected:
  PacketPtr made(const BfdPath& path) {
    auto packet = pool_.allocate();
    EXPECT_TRUE(make_bfd(*packet, path, some_header()));
    return packet;
  }

  HeapPacketPool pool_{8, 256};
};

TEST_F(BfdPackets, OverIpv4AreReadAsTheyWereWritten) {
  auto packet = made({Ip(10, 0, 0, 1), Ip(10, 0, 0, 2), 50001});
  EXPECT_EQ(packet->length, 14u + 20 + 8 + 24);
  const auto frame = engine::parse_frame(*packet);
  ASSERT_TRUE(is_bfd(frame));
  EXPECT_EQ(frame.udp->source_port.value(), 50001);
  EXPECT_EQ(frame.ipv4->destination, Ip(10, 0, 0, 2));
  const auto arrival = bfd_of(frame);
  EXPECT_EQ(arrival.source, wire::IpAddress(Ip(10, 0, 0, 1)));
  EXPECT_EQ(arrival.hops_left, 255);
  ASSERT_NE(arrival.header, nullptr);
  EXPECT_EQ(arrival.header->my_discriminator.value(), discriminator_of_test);
  frame.udp->checksum = std::uint16_t{0};
  EXPECT_NE(bfd_of(frame).header, nullptr) << "IPv4 does without";
}

TEST_F(BfdPackets, OverIpv6AreReadAsTheyWereWritten) {
  auto packet = made({ip6(1, 1), ip6(1, 2), 50001});
  EXPECT_EQ(packet->length, 14u + 40 + 8 + 24);
  const auto datagram = switching::parse_ipv6(*packet);
  ASSERT_TRUE(datagram);
  ASSERT_TRUE(is_bfd(*datagram));
  EXPECT_EQ(datagram->destination, ip6(1, 2));
  auto& udp = l4_header6<wire::UdpHeader>(*packet);
  EXPECT_EQ(udp.source_port.value(), 50001);
  const auto arrival = bfd_of(*datagram);
  EXPECT_EQ(arrival.source, ip6(1, 1));
  EXPECT_EQ(arrival.hops_left, 255);
  ASSERT_NE(arrival.header, nullptr);
  EXPECT_EQ(arrival.header->my_discriminator.value(), discriminator_of_test);
  udp.checksum = std::uint16_t{0};
  EXPECT_EQ(bfd_of(*datagram).header, nullptr) << "IPv6 has one";
}

// A kernel may pad the datagram, and the length in UDP may be less than that in IP.
TEST_F(BfdPackets, OfIpv6MayBeLongerThanTheirUdp) {
  auto packet = made({ip6(1, 1), ip6(1, 2), 50001});
  packet->length += 4;
  ip6_of(*packet).payload_length = std::uint16_t{36};
  EXPECT_NE(bfd_of(*switching::parse_ipv6(*packet)).header, nullptr);
}

TEST_F(BfdPackets, AreKnownByTheirPortAlone) {
  const Endpoints6 ends{mac(1), mac(2), ip6(1, 1), ip6(1, 2)};
  const auto is_one = [](PacketPtr packet) { return is_bfd(*switching::parse_ipv6(*packet)); };
  EXPECT_TRUE(is_one(make_udp6(pool_, ends, 5, wire::bfd_port)));
  EXPECT_FALSE(is_one(make_udp6(pool_, ends, wire::bfd_port, 5)));
  EXPECT_FALSE(is_one(make_ip6(pool_, ends, wire::ip_protocol::udp, 7))) << "no whole header";
  auto other = make_udp6(pool_, ends, 5, wire::bfd_port);
  ip6_of(*other).next_header = wire::ip_protocol::tcp;
  EXPECT_FALSE(is_one(std::move(other)));
}

TEST_F(BfdPackets, NeedRoom) {
  HeapPacketPool tight(2, 80);
  auto packet = tight.allocate();
  const auto room = packet->tailroom();
  EXPECT_EQ(make_bfd(*packet, {ip6(1, 1), ip6(1, 2), 50001}, some_header()), room >= 86);
  EXPECT_EQ(packet->length, room >= 86 ? 86u : 0u);
}

}  // namespace
}  // namespace tributary::test
