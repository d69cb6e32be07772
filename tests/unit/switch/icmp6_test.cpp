// SPDX-License-Identifier: BSD-3-Clause
#include "switch/icmp6.h"

#include <array>
#include <cstring>

#include <gtest/gtest.h>

#include "support/frames6.h"

namespace tributary::switching {
namespace {

const test::Endpoints6 asker6{test::mac(1), test::mac(2), test::ip6(1, 1), test::ip6(1, 2)};

class Icmp6 : public testing::Test {
 protected:
  PacketPtr udp(std::size_t bytes = 32) { return test::make_udp6(pool_, asker6, 1, 2, bytes); }
  // Puts so many extension headers of that type before the payload.
  PacketPtr extended(PacketPtr packet, std::uint8_t type, int times = 1) {
    for (int i = 0; i < times; ++i) {
      packet = test::extended(pool_, *packet, type);
    }
    return packet;
  }
  static bool may(const PacketPtr& packet) { return may_answer_with_error(*parse_ipv6(*packet)); }

  HeapPacketPool pool_{16, 2048};
};

TEST_F(Icmp6, ADatagramIsWithoutWhatPadsItsFrame) {
  auto packet = udp();
  packet->length += 6;
  const auto datagram = parse_ipv6(*packet);
  ASSERT_TRUE(datagram);
  EXPECT_EQ(datagram->payload.size(), 40u);
  EXPECT_EQ(datagram->bytes(), 80u);
  packet->length -= 7;
  EXPECT_FALSE(parse_ipv6(*packet)) << "which is not whole";
  packet->length += 7;
  test::ip6_of(*packet).version_class_flow[0] = 0x40;
  EXPECT_FALSE(parse_ipv6(*packet));
}

TEST_F(Icmp6, WhatADatagramCarriesIsBehindExtensionHeaders) {
  auto packet = udp();
  auto carried = carried_by(*parse_ipv6(*packet));
  EXPECT_EQ(carried->next_header, wire::ip_protocol::udp);
  EXPECT_EQ(carried->named_at, 6u) << "in the fixed header";
  packet = extended(std::move(packet), wire::ipv6_next::destination_options, 2);
  carried = carried_by(*parse_ipv6(*packet));
  EXPECT_EQ(carried->next_header, wire::ip_protocol::udp);
  EXPECT_EQ(carried->payload.size(), 40u);
  EXPECT_EQ(carried->named_at, 48u) << "in the second extension";
}

TEST_F(Icmp6, ExtensionHeadersAreWholeAndNotTooMany) {
  const auto most = extended(udp(), wire::ipv6_next::hop_by_hop, 8);
  EXPECT_TRUE(carried_by(*parse_ipv6(*most)));
  const auto more = extended(udp(), wire::ipv6_next::hop_by_hop, 9);
  EXPECT_FALSE(carried_by(*parse_ipv6(*more)));
  const auto longer = extended(udp(), wire::ipv6_next::hop_by_hop);
  test::l4_header6<wire::Ipv6Extension>(*longer).length = 6;
  EXPECT_FALSE(carried_by(*parse_ipv6(*longer)));
}

TEST_F(Icmp6, ASourceRouteThatGoesOnIsNotPassedOver) {
  const auto packet = extended(udp(), wire::ipv6_next::routing);
  EXPECT_EQ(carried_by(*parse_ipv6(*packet))->next_header, wire::ip_protocol::udp);
  test::l4_header6<wire::Ipv6Extension>(*packet).segments_left = 1;
  EXPECT_EQ(carried_by(*parse_ipv6(*packet))->next_header, wire::ipv6_next::routing);
}

TEST_F(Icmp6, AnAnswerIsTheRequestTurnedAround) {
  const auto packet = extended(test::make_echo6(pool_, asker6), wire::ipv6_next::hop_by_hop);
  const auto request = *parse_ipv6(*packet);
  const auto carried = *carried_by(request);
  ASSERT_TRUE(is_sound_icmp6(request, carried));
  turn_into_echo_reply(*packet, request, carried);
  const auto answer = parse_ipv6(*packet);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->source, asker6.destination);
  EXPECT_EQ(answer->destination, asker6.source);
  const auto answered = *carried_by(*answer);
  EXPECT_EQ(answered.named_at, 6u) << "without the extension headers";
  EXPECT_EQ(icmp6_type(answered), wire::Icmp6Header::echo_reply);
  EXPECT_TRUE(is_sound_icmp6(*answer, answered));
}

TEST_F(Icmp6, WhatIsDamagedIsNotSound) {
  const auto packet = test::make_echo6(pool_, asker6);
  test::payload6_of(*packet)[20] ^= std::byte{1};
  const auto datagram = *parse_ipv6(*packet);
  EXPECT_FALSE(is_sound_icmp6(datagram, *carried_by(datagram)));
  const auto other = udp();
  EXPECT_EQ(icmp6_type(*carried_by(*parse_ipv6(*other))), 0);
}

TEST_F(Icmp6, NoErrorIsAboutErrorsAndRedirects) {
  EXPECT_TRUE(may(udp()));
  const std::pair<int, bool> types[] = {{1, false},  {4, false},  {127, false},
                                        {128, true}, {136, true}, {137, false}};
  for (const auto& [type, answered] : types) {
    const auto packet = test::make_echo6(pool_, asker6);
    test::l4_header6<wire::Icmp6Header>(*packet).type = static_cast<std::uint8_t>(type);
    EXPECT_EQ(may(packet), answered) << type;
    EXPECT_EQ(may(test::extended(pool_, *packet, wire::ipv6_next::hop_by_hop)), answered)
        << "behind extension headers, " << type;
  }
}

TEST_F(Icmp6, NoErrorIsAboutGroupsOrNobody) {
  const auto may_about = [&](const test::Endpoints6& ends) {
    return may(test::make_udp6(pool_, ends, 1, 2));
  };
  auto ends = asker6;
  ends.destination_mac = test::mac(1);
  EXPECT_TRUE(may_about(ends));
  ends.destination_mac.octets[0] |= 1;
  EXPECT_FALSE(may_about(ends));
  ends = asker6;
  ends.destination = wire::all_nodes;
  EXPECT_FALSE(may_about(ends));
  ends = asker6;
  ends.source = wire::all_nodes;
  EXPECT_FALSE(may_about(ends));
  ends.source = {};
  EXPECT_FALSE(may_about(ends));
}

TEST_F(Icmp6, AnErrorQuotesThePacketThatItIsAbout) {
  const auto about = udp(100);
  const auto error = pool_.allocate();
  ASSERT_TRUE(make_icmp6_error(*error, *parse_ipv6(*about), icmp6_error::packet_too_big(1400),
                               test::ip6(1, 9)));
  const auto message = parse_ipv6(*error);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->source, test::ip6(1, 9));
  EXPECT_EQ(message->destination, asker6.source);
  EXPECT_TRUE(is_sound_icmp6(*message, *carried_by(*message)));
  EXPECT_EQ(test::l4_header6<wire::Icmp6Header>(*error).rest.value(), 1400u);
  const auto quoted = message->payload.subspan(sizeof(wire::Icmp6Header));
  ASSERT_EQ(quoted.size(), 148u);
  EXPECT_EQ(std::memcmp(quoted.data(), &test::ip6_of(*about), quoted.size()), 0);
}

TEST_F(Icmp6, AnErrorFitsTheLeastMtu) {
  const auto about = udp(1400);
  const auto error = pool_.allocate();
  ASSERT_TRUE(make_icmp6_error(*error, *parse_ipv6(*about), icmp6_error::no_route, {}));
  EXPECT_EQ(error->length, sizeof(wire::EthernetHeader) + wire::ipv6_mtu_min);
  HeapPacketPool small(1, 128);
  const auto without_room = small.allocate();
  EXPECT_FALSE(make_icmp6_error(*without_room, *parse_ipv6(*about), icmp6_error::no_route, {}));
}

TEST(FindLink, LooksThroughWholeOptions) {
  constexpr auto of_source = wire::LinkAddressOption::of_source;
  std::array<wire::LinkAddressOption, 2> options{};
  options[0].type = 9;
  options[1].type = of_source;
  options[1].mac = test::mac(7);
  const auto bytes = std::as_bytes(std::span(options));
  const wire::MacAddress* link = nullptr;
  EXPECT_TRUE(find_link(bytes, wire::LinkAddressOption::of_target, link));
  EXPECT_EQ(link, nullptr);
  EXPECT_TRUE(find_link(bytes, of_source, link));
  EXPECT_EQ(*link, test::mac(7));
  EXPECT_FALSE(find_link(bytes.first(15), of_source, link)) << "the second is cut off";
  options[0].length = 0;
  EXPECT_FALSE(find_link(bytes, of_source, link)) << "or this would never end";
}

}  // namespace
}  // namespace tributary::switching
