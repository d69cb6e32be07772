// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/engines.h"

#include <initializer_list>

#include <gtest/gtest.h>

#include "support/canary_packets.h"

namespace tributary::engine {
namespace {

const SwitchIdentity identity{1, wire::Ipv4Address{10, 0, 255, 1}, {}, 4};

TEST(Registry, NamesEveryEngine) {
  ASSERT_EQ(engine_kinds().size(), 3u);
  EXPECT_EQ(engine_kinds()[0].protocol.name, "canary");
  EXPECT_EQ(engine_kinds()[1].protocol.name, "panama");
  EXPECT_EQ(engine_kinds()[2].protocol.name, "netreduce");
}

TEST(Registry, MakesOnlyWhatIsConfigured) {
  HeapPacketPool pool(4, 2048);
  const auto& kind = engine_kinds()[0];
  EXPECT_EQ(kind.make({}, identity, pool), nullptr);
  const canary::CanaryConfig config;
  EXPECT_NE(kind.make({&config}, identity, pool), nullptr);
  const panama::PanamaConfig other;
  EXPECT_EQ(kind.make({nullptr, &other}, identity, pool), nullptr);
  EXPECT_EQ(engine_kinds()[1].make({&config}, identity, pool), nullptr);
  EXPECT_NE(engine_kinds()[1].make({nullptr, &other}, identity, pool), nullptr);
}

TEST(Registry, FiguresAreMarkedByHowThoseOfCoresMerge) {
  HeapPacketPool pool(4, 2048);
  const canary::CanaryConfig canary;
  const panama::PanamaConfig panama;
  const netreduce::NetReduceConfig netreduce;
  for (const auto& kind : engine_kinds()) {
    const auto engine = kind.make({&canary, &panama, &netreduce}, identity, pool);
    ASSERT_NE(engine, nullptr) << kind.protocol.name;
    for (const auto& figure : engine->figures()) {
      if (figure.name.ends_with("_total")) {
        EXPECT_EQ(figure.merge, Merge::sum) << figure.name;
      }
      if (figure.name.ends_with("_high_water") || figure.name == "packet_memory") {
        EXPECT_EQ(figure.merge, Merge::maximum) << figure.name;
      }
      if (figure.name == "wnd_cap") {
        EXPECT_EQ(figure.merge, Merge::minimum);
      }
    }
  }
}

TEST(Registry, ReconfiguresInPlaceWherePossible) {
  HeapPacketPool pool(4, 2048);
  const auto& kind = engine_kinds()[0];
  canary::CanaryConfig config;
  const auto engine = kind.make({&config}, identity, pool);
  config.timeout = std::chrono::milliseconds(2);
  EXPECT_TRUE(kind.reconfigure(*engine, {&config}));
  config.descriptors *= 2;
  EXPECT_FALSE(kind.reconfigure(*engine, {&config}));
  EXPECT_FALSE(kind.reconfigure(*engine, {}));
}

TEST(Registry, CanaryClaimsItsPacketsAndTellsTheirBlock) {
  HeapPacketPool pool(4, 2048);
  const auto& protocol = engine_kinds()[0].protocol;
  test::CanarySpec spec;
  spec.job = 3;
  spec.id = 4;
  for (const auto encapsulation : {wire::Encapsulation::udp, wire::Encapsulation::ethernet}) {
    spec.encapsulation = encapsulation;
    auto packet = test::make_canary(pool, spec, std::vector<std::int32_t>{1});
    const auto frame = parse_frame(*packet);
    EXPECT_TRUE(protocol.claims(frame));
    EXPECT_EQ(protocol.key(frame), (std::uint64_t{3} << 32) | 4);
  }
}

TEST(Registry, CanaryLeavesOtherTrafficAlone) {
  HeapPacketPool pool(4, 2048);
  const auto& protocol = engine_kinds()[0].protocol;
  test::CanarySpec spec;
  for (const std::uint16_t port : std::initializer_list<std::uint16_t>{16999, 17256, 53}) {
    spec.udp_port = port;
    auto packet = test::make_canary(pool, spec, std::vector<std::int32_t>{1});
    EXPECT_FALSE(protocol.claims(parse_frame(*packet))) << port;
  }
  EXPECT_FALSE(protocol.claims(Frame{}));
  auto empty = pool.allocate();
  EXPECT_FALSE(protocol.claims(parse_frame(*empty)));
  EXPECT_EQ(protocol.key(parse_frame(*empty)), 0u);
}

}  // namespace
}  // namespace tributary::engine
