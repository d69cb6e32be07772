// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/unfinished.h"

#include <gtest/gtest.h>

#include "support/frames.h"
#include "support/frames6.h"

namespace tributary::forwarding {
namespace {

const test::Endpoints unfinished_ends{test::mac(1), test::mac(2), test::Ip(10, 0, 0, 1),
                                      test::Ip(10, 0, 0, 2)};

class UnfinishedChecksum : public testing::Test {
 protected:
  PacketPtr udp() { return test::make_udp(pool_, unfinished_ends, 1, 2); }
  // Leaves the checksum unfinished, as a kernel leaves it to its device.
  static PacketPtr leave(PacketPtr frame) {
    const auto l4_bytes = static_cast<std::uint16_t>(test::l4_of(*frame).size());
    const auto sum = wire::pseudo_header_sum(test::ip_of(*frame), l4_bytes);
    if (test::ip_of(*frame).protocol == wire::ip_protocol::tcp) {
      test::l4_header<wire::TcpHeader>(*frame).checksum = sum;
    } else {
      test::l4_header<wire::UdpHeader>(*frame).checksum = sum;
    }
    return frame;
  }

  HeapPacketPool pool_{8, 1600};
};

TEST_F(UnfinishedChecksum, IsThatOfThePseudoHeaderAlone) {
  EXPECT_FALSE(has_unfinished_checksum(*udp()));
  EXPECT_TRUE(has_unfinished_checksum(*leave(udp())));
  EXPECT_TRUE(has_unfinished_checksum(*test::tagged(leave(udp()), 10)));
  auto tcp = test::make_ip(pool_, unfinished_ends, wire::ip_protocol::tcp, 60);
  EXPECT_TRUE(has_unfinished_checksum(*leave(std::move(tcp))));
}

TEST_F(UnfinishedChecksum, IsThatOfThePseudoHeaderOfIpv6) {
  const test::Endpoints6 ends{test::mac(1), test::mac(2), test::ip6(1, 1), test::ip6(1, 2)};
  auto frame = test::make_udp6(pool_, ends, 1, 2);
  EXPECT_FALSE(has_unfinished_checksum(*frame));
  const auto l4_bytes = static_cast<std::uint32_t>(test::payload6_of(*frame).size());
  test::l4_header6<wire::UdpHeader>(*frame).checksum =
      wire::pseudo_header_sum(test::ip6_of(*frame), l4_bytes);
  EXPECT_TRUE(has_unfinished_checksum(*frame));
  frame->length -= 1;
  EXPECT_FALSE(has_unfinished_checksum(*frame));
}

// An ordinary checksum may happen to be the sum of the pseudo-header.
TEST_F(UnfinishedChecksum, IsWrong) {
  auto frame = leave(udp());
  const auto sum = test::l4_header<wire::UdpHeader>(*frame).checksum.value();
  auto& last_word = *reinterpret_cast<wire::be16*>(&test::l4_of(*frame)[38]);
  last_word = wire::transport_checksum(test::ip_of(*frame), test::l4_of(*frame));
  ASSERT_EQ(test::l4_header<wire::UdpHeader>(*frame).checksum.value(), sum);
  EXPECT_FALSE(has_unfinished_checksum(*frame));
}

TEST_F(UnfinishedChecksum, IsNotSoughtWhereThereIsNone) {
  auto without = udp();
  test::l4_header<wire::UdpHeader>(*without).checksum = std::uint16_t{0};
  EXPECT_FALSE(has_unfinished_checksum(*without)) << "UDP may do without";
  auto fragment = leave(udp());
  test::ip_of(*fragment).fragment = std::uint16_t{1};
  EXPECT_FALSE(has_unfinished_checksum(*fragment)) << "that of a fragment is in the first one";
  auto other = leave(udp());
  test::ip_of(*other).protocol = wire::ip_protocol::icmp;
  EXPECT_FALSE(has_unfinished_checksum(*other));
  auto other_type = leave(udp());
  test::ethernet_of(*other_type).type = wire::ethertype::ipv6;
  EXPECT_FALSE(has_unfinished_checksum(*other_type));
}

TEST_F(UnfinishedChecksum, IsNotSoughtInWhatIsNotWhole) {
  auto cut = leave(udp());
  cut->length -= 1;
  EXPECT_FALSE(has_unfinished_checksum(*cut));
  auto stub = leave(udp());
  stub->length = sizeof(wire::EthernetHeader) + 4;
  EXPECT_FALSE(has_unfinished_checksum(*stub));
  auto short_of_itself = leave(udp());
  test::ip_of(*short_of_itself).total_length = std::uint16_t{19};
  EXPECT_FALSE(has_unfinished_checksum(*short_of_itself));
}

}  // namespace
}  // namespace tributary::forwarding
