// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/repetition.h"

#include <cstddef>
#include <set>

#include <gtest/gtest.h>

namespace tributary::canary {
namespace {

// The bytes that differ between contributions; 0 is the first byte of the IP header.
std::set<std::size_t> own_bytes() {
  std::set<std::size_t> bytes;
  const auto add = [&bytes](std::size_t first, std::size_t last) {
    for (; first < last; ++first) {
      bytes.insert(first);
    }
  };
  const std::size_t udp = 20;
  const std::size_t canary = 28;
  add(0, 16);                     // all of IP but the destination
  add(udp, udp + 2);              // source port
  add(udp + 6, udp + 8);          // checksum
  add(canary + 8, canary + 10);   // counter
  add(canary + 12, canary + 18);  // what only a collision fills in
  add(canary + 23, canary + 24);  // shard
  add(canary + 30, canary + 64);  // child, fingerprint, rank, CRCs
  return bytes;
}

TEST(Repetition, looks_at_every_bit_that_contributions_share_and_at_no_other) {
  const UdpHeaders first{};
  const auto own = own_bytes();
  const std::size_t congested = 8 * offsetof(UdpHeaders, canary.flags) + 5;
  ASSERT_TRUE(repeats(first, first));
  for (std::size_t bit = 0; bit < 8 * sizeof first; ++bit) {
    auto next = first;
    reinterpret_cast<unsigned char*>(&next)[bit / 8] ^= static_cast<unsigned char>(1u << (bit % 8));
    EXPECT_EQ(repeats(next, first), bit == congested || own.count(bit / 8) == 1)
        << "byte " << bit / 8 << ", bit " << bit % 8;
  }
}

TEST(UdpHeadersOf, only_plain_and_whole_ones) {
  UdpHeaders headers{};
  engine::Frame frame;
  frame.payload = {reinterpret_cast<std::byte*>(&headers.canary), sizeof headers.canary};
  EXPECT_EQ(udp_headers_of(frame), nullptr);
  frame.ipv4 = &headers.ipv4;
  EXPECT_EQ(udp_headers_of(frame), nullptr);
  frame.udp = &headers.udp;
  EXPECT_EQ(udp_headers_of(frame), &headers);
  frame.payload = frame.payload.first(sizeof headers.canary - 1);
  EXPECT_EQ(udp_headers_of(frame), nullptr);
  frame.payload = {reinterpret_cast<std::byte*>(&headers.canary), sizeof headers.canary};
  headers.ipv4.version_ihl = 0x46;
  EXPECT_EQ(udp_headers_of(frame), nullptr);
}

}  // namespace
}  // namespace tributary::canary
