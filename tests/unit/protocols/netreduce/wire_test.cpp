// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/wire.h"

#include <cstring>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::wire {
namespace {

constexpr std::uint32_t mtu = 1024;

InaHeader sound() {
  InaHeader header;
  header.tag = InaHeader::current_tag;
  header.ring = 7;
  header.length = 2 * mtu + 512;
  header.packets = std::uint16_t{3};
  header.rank = std::uint16_t{1};
  header.world = std::uint16_t{2};
  return header;
}

TEST(Ina, header_is_found_by_its_tag) {
  const auto header = sound();
  std::vector<std::byte> payload(sizeof header);
  std::memcpy(payload.data(), &header, sizeof header);
  ASSERT_NE(peek_ina(payload), nullptr);
  EXPECT_EQ(peek_ina(payload)->ring.value(), 7u);
  EXPECT_EQ(peek_ina(Bytes(payload).first(sizeof header - 1)), nullptr);
  payload[0] ^= std::byte{1};
  EXPECT_EQ(peek_ina(payload), nullptr);
}

TEST(Ina, sound_header_is_taken) {
  EXPECT_TRUE(is_sound(sound(), mtu));
  auto header = sound();
  header.length = 40;
  header.packets = std::uint16_t{1};
  EXPECT_TRUE(is_sound(header, mtu));
  header.length = mtu;
  EXPECT_TRUE(is_sound(header, mtu));
}

TEST(Ina, contradictions_are_not) {
  const std::function<void(InaHeader&)> damages[] = {
      [](InaHeader& h) { h.version = 2; },
      [](InaHeader& h) { h.element_type = static_cast<ElementType>(wire::element_type_count); },
      [](InaHeader& h) { h.op = static_cast<Operator>(wire::operator_count); },
      [](InaHeader& h) { h.op = Operator::bit_and; },
      [](InaHeader& h) { h.op = wire::handler_operator(0); },
      [](InaHeader& h) { h.rank = std::uint16_t{2}; },
      [](InaHeader& h) { h.packets = std::uint16_t{2}; },
      [](InaHeader& h) { h.packets = std::uint16_t{0}; },
      [](InaHeader& h) { h.length = 2 * mtu + 508; },
      [](InaHeader& h) { h.length = 0; },
      [](InaHeader& h) {
        h.length = 32;
        h.packets = std::uint16_t{1};
      },
      [](InaHeader& h) { h.length = 0xfffffff8; },
  };
  for (const auto& damage : damages) {
    auto header = sound();
    damage(header);
    EXPECT_FALSE(is_sound(header, mtu)) << &damage - damages;
  }
}

TEST(Ina, last_packet_has_what_is_left) {
  EXPECT_EQ(ina_packets(2 * mtu, mtu), 2u);
  EXPECT_EQ(ina_packets(2 * mtu + 8, mtu), 3u);
  EXPECT_EQ(ina_payload_bytes(2 * mtu + 8, mtu, 1), mtu);
  EXPECT_EQ(ina_payload_bytes(2 * mtu + 8, mtu, 2), 8u);
  EXPECT_EQ(ina_payload_bytes(2 * mtu, mtu, 1), mtu);
}

TEST(Ina, fingerprint_is_the_end_of_the_payload) {
  std::vector<std::byte> payload(32);
  store_fingerprint(payload, 0x0102030405060708);
  EXPECT_EQ(payload[24], std::byte{8});
  EXPECT_EQ(payload[31], std::byte{1});
  EXPECT_EQ(load_fingerprint(payload), 0x0102030405060708u);
}

// The run of a receiver is that of the packet or a later one.
TEST(ProvokingDistance, is_ahead_in_all_runs_of_a_search_and_where_none_begins) {
  constexpr std::uint32_t psn = psn_mask - 5;
  const auto provoking = psn_add(psn, provoking_distance);
  for (std::uint32_t run = 0; run < ring_mtus.size(); ++run) {
    const auto expected = psn_add(psn, run * psns_between_runs);
    const auto ahead = psn_distance(expected, provoking);
    EXPECT_GT(ahead, psns_between_runs) << run;
    EXPECT_LT(ahead, psn_mask / 2) << run;
    EXPECT_EQ(ahead % psns_between_runs, psns_between_runs / 2) << run;
  }
}

}  // namespace
}  // namespace tributary::wire
