// SPDX-License-Identifier: BSD-3-Clause
#include "wire/checksum.h"

#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "unit/wire/random_bytes.h"

namespace tributary::wire {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) {
    bytes.push_back(static_cast<std::byte>(value));
  }
  return bytes;
}

// RFC 1071 word by word, in big-endian order.
std::uint16_t textbook_checksum(Bytes bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = std::to_integer<std::uint32_t>(bytes[i]);
    sum += i % 2 == 0 ? byte << 8 : byte;
    sum = (sum & 0xffff) + (sum >> 16);
  }
  return static_cast<std::uint16_t>(~sum);
}

TEST(InternetChecksum, example_of_rfc_1071_section_3) {
  EXPECT_EQ(internet_checksum(bytes_of({0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7})), 0x220d);
}

TEST(InternetChecksum, agrees_with_the_textbook_at_every_length_and_offset) {
  std::mt19937 random(1);
  const auto bytes = random_bytes(1600, random);
  for (std::size_t length = 0; length <= 1500; length += length < 70 ? 1 : 131) {
    for (std::size_t offset = 0; offset < 8; ++offset) {
      const auto part = Bytes(bytes).subspan(offset, length);
      ASSERT_EQ(internet_checksum(part), textbook_checksum(part)) << length << '+' << offset;
    }
  }
  const std::vector<std::byte> ones(65535, std::byte{0xff});
  EXPECT_EQ(internet_checksum(ones), textbook_checksum(ones));
}

// 45 00 00 73 00 00 40 00 40 11 b8 61 c0 a8 00 01 c0 a8 00 c7: a header often quoted.
Ipv4Header example_header() {
  Ipv4Header ip;
  ip.total_length = 0x73;
  ip.fragment = 0x4000;
  ip.protocol = ip_protocol::udp;
  ip.source = Ipv4Address(192, 168, 0, 1);
  ip.destination = Ipv4Address(192, 168, 0, 199);
  return ip;
}

TEST(FinishIpv4, fills_in_the_known_checksum) {
  auto ip = example_header();
  ip.checksum = 0x1234;
  finish_ipv4(ip);
  EXPECT_EQ(ip.checksum.value(), 0xb861);
  EXPECT_EQ(internet_checksum(std::as_bytes(std::span(&ip, 1))), 0);
}

// Computed apart from this code, with big integers.
TEST(TransportChecksum, known_datagram_of_odd_length) {
  const auto udp = bytes_of({0xc0, 0x01, 0x42, 0x68, 0x00, 0x11, 0x00, 0x00, 't', 'r', 'i', 'b',
                             'u', 't', 'a', 'r', 'y'});
  const auto ip = example_header();
  EXPECT_EQ(pseudo_header_sum(ip, 17), 0x823b);
  EXPECT_EQ(transport_checksum(ip, udp), 0x4d8d);
}

TEST(TransportChecksum, is_zero_over_a_finished_segment) {
  std::mt19937 random(2);
  const auto ip = example_header();
  for (const std::size_t length : {8U, 9U, 100U, 1471U}) {
    auto segment = random_bytes(length, random);
    segment[6] = segment[7] = std::byte{0};
    const be16 checksum{transport_checksum(ip, segment)};
    std::memcpy(segment.data() + 6, &checksum, sizeof checksum);
    EXPECT_EQ(transport_checksum(ip, segment), 0);
  }
}

TEST(UpdateChecksum, agrees_with_computing_anew_over_every_old_word) {
  std::mt19937 random(3);
  auto ip = example_header();
  for (std::uint32_t before = 0; before < 0x10000; ++before) {
    ip.identification = static_cast<std::uint16_t>(before);
    finish_ipv4(ip);
    const auto checksum = ip.checksum.value();
    const auto after = static_cast<std::uint16_t>(random());
    ip.identification = after;
    finish_ipv4(ip);
    ASSERT_EQ(update_checksum(checksum, static_cast<std::uint16_t>(before), after),
              ip.checksum.value());
  }
}

TEST(FillInChecksum, is_that_of_the_header_with_the_address_in_it) {
  std::mt19937 random(5);
  for (int i = 0; i < 10'000; ++i) {
    Ipv4Header ip;
    ip.identification = static_cast<std::uint16_t>(random());
    ip.source = Ipv4Address{static_cast<std::uint32_t>(random())};
    finish_ipv4(ip);
    const auto checksum = ip.checksum.value();
    // Now and then one that carries twice.
    const auto address = i % 8 == 0 ? 0xffffffffu - random() % 2 : random();
    ip.destination = Ipv4Address{static_cast<std::uint32_t>(address)};
    finish_ipv4(ip);
    ASSERT_EQ(fill_in_checksum(checksum, ip.destination.value()), ip.checksum.value());
  }
}

// RFC 8200, 8.1, by hand: addresses, length, next header, segment, word by word.
TEST(TransportChecksum, covers_the_pseudo_header_of_ipv6) {
  Ipv6Header ip;
  ip.next_header = ip_protocol::udp;
  for (std::uint8_t i = 0; i < 16; ++i) {
    ip.source[i] = i;
    ip.destination[i] = static_cast<std::uint8_t>(0xf0 + i);
  }
  std::mt19937 random(3);
  for (std::size_t length = 8; length < 40; ++length) {
    const auto segment = random_bytes(length, random);
    auto whole = bytes_of({});
    const auto append = [&whole](Bytes bytes) {
      whole.insert(whole.end(), bytes.begin(), bytes.end());
    };
    append(std::as_bytes(std::span(ip.source)));
    append(std::as_bytes(std::span(ip.destination)));
    append(bytes_of({0, 0, 0, static_cast<int>(length), 0, 0, 0, ip_protocol::udp}));
    append(segment);
    EXPECT_EQ(transport_checksum(ip, segment), textbook_checksum(whole)) << length;
  }
}

}  // namespace
}  // namespace tributary::wire
