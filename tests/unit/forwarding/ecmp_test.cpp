// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/ecmp.h"

#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "support/frames6.h"

namespace tributary::forwarding {
namespace {

// Counts blocks by the up-ports that they take at the levels of these seeds, each of which has
// `ways`.
std::vector<unsigned> taken(const std::vector<std::uint64_t>& seeds, std::size_t ways,
                            std::size_t blocks_of_each) {
  std::size_t count = 1;
  for (std::size_t level = 0; level < seeds.size(); ++level) {
    count *= ways;
  }
  std::vector<unsigned> hits(count);
  std::mt19937 random(1);
  for (std::size_t block = 0; block < count * blocks_of_each; ++block) {
    const auto hash = static_cast<std::uint32_t>(random());
    std::size_t link = 0;
    for (const auto seed : seeds) {
      link = link * ways + pick(LevelHash(seed)(hash), ways);
    }
    ++hits[link];
  }
  return hits;
}

void expect_even(const std::vector<std::uint64_t>& seeds, std::size_t ways) {
  constexpr std::size_t mean = 600;
  for (const auto hits : taken(seeds, ways, mean)) {
    EXPECT_NEAR(hits, mean, 0.2 * mean) << seeds.front() << ", " << seeds.back() << ": " << ways;
  }
}

TEST(EcmpHash, OfIpv6DependsOnAllOfAFlowAndOnNothingElse) {
  HeapPacketPool pool(16, 256);
  const test::Endpoints6 ends{test::mac(1), test::mac(2), test::ip6(1, 1), test::ip6(2, 2)};
  const EcmpHash hash(1);
  const auto of = [&](Packet& packet) {
    return hash(test::ip6_of(packet), test::payload6_of(packet));
  };
  const auto changed = [&](auto change) {
    auto packet = test::make_udp6(pool, ends, 5, 6);
    change(*packet);
    return of(*packet);
  };
  const auto usual = changed([](Packet&) {});
  EXPECT_EQ(changed([](Packet& packet) { test::ip6_of(packet).hop_limit = 3; }), usual);
  EXPECT_EQ(changed([](Packet& packet) { test::payload6_of(packet)[20] = std::byte{1}; }), usual);
  EXPECT_NE(changed([](Packet& packet) { test::ip6_of(packet).source[15] = 9; }), usual);
  EXPECT_NE(changed([](Packet& packet) { test::ip6_of(packet).destination[3] = 9; }), usual);
  EXPECT_NE(changed([](Packet& packet) { test::ip6_of(packet).next_header = 6; }), usual);
  EXPECT_NE(changed([](Packet& packet) { test::ip6_of(packet).version_class_flow[3] = 1; }), usual);
  EXPECT_NE(changed([](Packet& packet) { test::payload6_of(packet)[1] = std::byte{9}; }), usual);
  EXPECT_NE(EcmpHash(2)(test::ip6_of(*test::make_udp6(pool, ends, 5, 6)), {}), usual);
  auto cut = test::make_udp6(pool, ends, 5, 6);
  EXPECT_EQ(hash(test::ip6_of(*cut), test::payload6_of(*cut).first(3)),
            hash(test::ip6_of(*cut), {}));
}

TEST(LevelHash, WithoutASeedIsTheHashItself) {
  for (const std::uint32_t hash : {0u, 1u, 0x12345678u, 0x80000000u, 0xffffffffu}) {
    EXPECT_EQ(LevelHash(0)(hash), hash);
  }
}

TEST(LevelHash, LinksBetweenLevelsGetTheSame) {
  for (std::uint64_t one = 0; one < 4; ++one) {
    for (std::uint64_t other = one + 1; other < 5; ++other) {
      expect_even({one, other}, 2);
      expect_even({one, other}, 3);
      expect_even({one, other}, 8);
    }
  }
}

TEST(LevelHash, SoDoThoseBetweenFourLevels) {
  expect_even({0, 1, 2}, 4);
  expect_even({1, 2, 3}, 4);
}

TEST(LevelHash, WithOneSeedForAllMostLinksGetNothing) {
  std::size_t used = 0;
  for (const auto hits : taken({3, 3}, 8, 100)) {
    used += hits > 0 ? 1 : 0;
  }
  EXPECT_EQ(used, 8u);
}

}  // namespace
}  // namespace tributary::forwarding
