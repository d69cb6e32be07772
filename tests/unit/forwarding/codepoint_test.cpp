// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/codepoint.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

#include "support/frames.h"
#include "support/frames6.h"

namespace tributary::forwarding {
namespace {

TEST(Codepoints, HaveNamesAndNumbers) {
  EXPECT_EQ(codepoint_named("ef")->value, 46);
  EXPECT_EQ(codepoint_named("cs7")->value, 56);
  EXPECT_EQ(codepoint_named("63")->value, 63);
  EXPECT_EQ(to_string(Codepoint{34}), "af41");
  EXPECT_EQ(to_string(Codepoint{63}), "63");
  for (const char* wrong : {"", "64", "-1", "EF", "cs8", "1 "}) {
    EXPECT_FALSE(codepoint_named(wrong)) << wrong;
  }
}

// Tests the codepoint of a frame, with anything before and behind its IP header.
class CodepointOf : public testing::Test {
 protected:
  PacketPtr of_ipv4(std::uint8_t codepoint) {
    auto packet = test::make_udp(
        pool_, {test::mac(1), test::mac(2), test::Ip(10, 0, 0, 1), test::Ip(10, 0, 0, 2)}, 1, 2);
    test::ip_of(*packet).tos = static_cast<std::uint8_t>(codepoint << 2 | wire::ecn::ect0);
    return packet;
  }
  // All bits around the traffic class are set.
  PacketPtr of_ipv6(std::uint8_t codepoint) {
    auto packet = test::make_udp6(
        pool_, {test::mac(1), test::mac(2), test::ip6(1, 1), test::ip6(2, 1)}, 1, 2);
    packet->data()[14] = static_cast<std::byte>(0x60 | codepoint >> 2);
    packet->data()[15] = static_cast<std::byte>((codepoint & 3) << 6 | 0x3f);
    return packet;
  }
  PacketPtr of_arp() {
    auto packet = test::make_frame(pool_, test::mac(1), test::mac(2), wire::ethertype::arp, 46);
    std::fill(packet->data() + 14, packet->data() + 60, std::byte{0xff});
    return packet;
  }

  static constexpr std::uint8_t af11 = 10;
  static constexpr std::uint8_t cs7 = 56;
  HeapPacketPool pool_{4, 1600};
};

TEST_F(CodepointOf, IsReadOfIpv4AndIpv6) {
  for (const auto codepoint : {af11, cs7}) {
    EXPECT_EQ(codepoint_of(*of_ipv4(codepoint)), codepoint);
    EXPECT_EQ(codepoint_of(*of_ipv6(codepoint)), codepoint);
    EXPECT_EQ(priority_of(*of_ipv4(codepoint)), codepoint / 8);
    EXPECT_EQ(priority_of(*of_ipv6(codepoint)), codepoint / 8);
  }
}

TEST_F(CodepointOf, IsThatOfThePacketBehindATag) {
  const auto tag = 3u << wire::vlan_priority_shift | 10;
  EXPECT_EQ(codepoint_of(*test::tagged(of_ipv4(af11), tag)), af11);
  EXPECT_EQ(priority_of(*test::tagged(of_ipv6(cs7), tag)), 7);
}

TEST_F(CodepointOf, IsNoneOfWhatIsNotIpOrTruncated) {
  EXPECT_EQ(codepoint_of(*of_arp()), 0);
  EXPECT_EQ(priority_of(*of_arp()), 0);
  for (const std::uint32_t bytes : {13u, 14u, 15u}) {
    for (auto& truncated : {of_ipv4(cs7), of_ipv6(cs7)}) {
      truncated->length = bytes;
      EXPECT_EQ(codepoint_of(*truncated), 0) << bytes;
    }
  }
}

// Tests what the class of a frame goes by where its port trusts tags.
class MarkingOf : public CodepointOf {
 protected:
  static std::uint8_t trusted(PacketPtr packet) {
    trust_tag(*packet);
    return marking_of(*packet);
  }
  static constexpr unsigned tag = 3u << wire::vlan_priority_shift | 0x1000 | 10;  // and DEI
};

TEST_F(MarkingOf, IsTheCodepointUnlessTheTagIsTrusted) {
  const auto packet = test::tagged(of_ipv4(cs7), tag);
  EXPECT_EQ(marking_of(*packet), cs7);
  trust_tag(*packet);
  EXPECT_EQ(marking_of(*packet), marking_of_priority(3));
  EXPECT_EQ(priority_of(*packet), 3);
}

TEST_F(MarkingOf, IsThePriorityOfTheTagOfWhateverItTags) {
  EXPECT_EQ(trusted(test::tagged(of_ipv6(cs7), tag)), marking_of_priority(3));
  EXPECT_EQ(trusted(test::tagged(of_arp(), 7u << wire::vlan_priority_shift)),
            marking_of_priority(7));
  EXPECT_EQ(trusted(test::tagged(test::tagged(of_ipv4(cs7), 5u << wire::vlan_priority_shift), tag)),
            marking_of_priority(3))
      << "of the outer one";
}

TEST_F(MarkingOf, IsPriorityZeroWithoutATag) {
  EXPECT_EQ(trusted(of_ipv4(cs7)), marking_of_priority(0));
  auto truncated = test::tagged(of_ipv4(cs7), tag);
  truncated->length = 17;
  EXPECT_EQ(trusted(std::move(truncated)), marking_of_priority(0));
}

TEST_F(MarkingOf, StaysWhenTheTagIsTakenOffAndInCopies) {
  auto packet = test::tagged(of_ipv4(cs7), tag);
  trust_tag(*packet);
  packet->narrow_to(4, packet->length - 4);
  EXPECT_EQ(priority_of(*packet), 3);
  EXPECT_EQ(priority_of(*pool_.clone(*packet)), 3);
  auto& body = *packet.release();
  pool_.share(body, 1);
  const std::array<std::byte, sizeof(wire::EthernetHeader)> head{};
  EXPECT_EQ(priority_of(*pool_.allocate_in_front_of(body, head)), 3);
  EXPECT_EQ(pool_.allocate()->marking, 0) << "of the same memory, for another frame";
}

}  // namespace
}  // namespace tributary::forwarding
