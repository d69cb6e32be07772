// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/engines.h"

#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/settings.h"
#include "protocols/canary/engine/config.h"
#include "protocols/canary/engine/drop_reasons.h"
#include "protocols/flare/engine/config.h"
#include "protocols/flare/engine/drop_reasons.h"
#include "protocols/list.h"
#include "protocols/netreduce/engine/config.h"
#include "protocols/netreduce/engine/drop_reasons.h"
#include "protocols/panama/engine/config.h"
#include "support/canary_packets.h"
#include "support/drop_names.h"
#include "support/flare_packets.h"

namespace tributary::protocols {
namespace {

const engine::SwitchIdentity identity{1, wire::Ipv4Address{10, 0, 255, 1}, {}, 4};

const engine::Protocol& canary_protocol() {
  return engines()[static_cast<std::size_t>(Row::canary)]->protocol;
}

TEST(Engines, StandInTheOrderOfTheirRows) {
  ASSERT_EQ(engines().size(), 4u);
  EXPECT_EQ(engines()[0]->protocol.name, "canary");
  EXPECT_EQ(engines()[1]->protocol.name, "panama");
  EXPECT_EQ(engines()[2]->protocol.name, "netreduce");
  EXPECT_EQ(engines()[3]->protocol.name, "flare");
}

// Returns settings with a tree for each engine that has trees.
engine::Settings settings_of_all() {
  const auto small_tree = [](auto& tree) {
    tree.job = 1;
    tree.group = wire::Ipv4Address{239, 192, 0, 1};
    tree.children = {0, 1};
    tree.workers = tree.workers_below = 2;
  };
  engine::Settings settings;
  settings.emplace<canary::CanaryConfig>();
  auto& panama_tree = settings.emplace<panama::PanamaConfig>().trees.emplace_back();
  small_tree(panama_tree);
  panama_tree.quorum = panama_tree.workers;
  small_tree(settings.emplace<flare::FlareConfig>().trees.emplace_back());
  settings.emplace<netreduce::NetReduceConfig>().rings.push_back(
      {1, {wire::Ipv4Address{10, 0, 0, 1}, wire::Ipv4Address{10, 0, 0, 2}}});
  return settings;
}

std::vector<std::string_view> names_of(const std::vector<engine::FigureKind>& kinds,
                                       engine::Of which) {
  std::vector<std::string_view> names;
  for (const auto& kind : kinds) {
    if (kind.is_of(which)) {
      names.push_back(kind.name);
    }
  }
  return names;
}

std::vector<std::string_view> names_of(const std::vector<engine::Figure>& figures) {
  std::vector<std::string_view> names;
  for (const auto& figure : figures) {
    names.push_back(figure.name);
  }
  return names;
}

TEST(Engines, TellTheFiguresThatTheyDescribe) {
  HeapPacketPool pool(4, 2048);
  const auto settings = settings_of_all();
  for (std::size_t row = 0; row < engines().size(); ++row) {
    const auto kinds = engines()[row]->figure_kinds();
    const auto engine = engines()[row]->make(settings.of(row), identity, pool);
    EXPECT_EQ(names_of(engine->figures()), names_of(kinds, engine::Of::engine));
    const auto of_trees = names_of(kinds, engine::Of::tree);
    ASSERT_EQ(engine->trees().empty(), of_trees.empty()) << engines()[row]->protocol.name;
    for (const auto& tree : engine->trees()) {
      EXPECT_EQ(names_of(tree.figures), of_trees);
    }
  }
}

TEST(Engines, DescribeEachFigureOnce) {
  for (const auto* kind : engines()) {
    for (const auto which : {engine::Of::engine, engine::Of::tree}) {
      const auto names = names_of(kind->figure_kinds(), which);
      EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size()) << kind->protocol.name;
    }
    for (const auto& figure : kind->figure_kinds()) {
      EXPECT_FALSE(figure.help.empty() || figure.unit.empty()) << figure.name;
      EXPECT_EQ(figure.help.find('|'), std::string::npos) << "which ends a cell of the reference";
    }
  }
}

TEST(Engines, FiguresAreMarkedByHowThoseOfCoresMerge) {
  for (const auto* kind : engines()) {
    for (const auto& figure : kind->figure_kinds()) {
      if (figure.name.ends_with("_total")) {
        EXPECT_EQ(figure.merge, engine::Merge::sum) << figure.name;
      }
      if (figure.name.ends_with("_high_water") || figure.name == "packet_memory" ||
          figure.name == "working_memory") {
        EXPECT_EQ(figure.merge, engine::Merge::maximum) << figure.name;
      }
      if (figure.name == "wnd_cap") {
        EXPECT_EQ(figure.merge, engine::Merge::minimum);
      }
    }
  }
}

TEST(Engines, AreReconfiguredInPlaceWherePossible) {
  HeapPacketPool pool(4, 2048);
  const auto& kind = *engines()[static_cast<std::size_t>(Row::canary)];
  canary::CanaryConfig config;
  const auto engine = kind.make(config, identity, pool);
  config.timeout = std::chrono::milliseconds(2);
  EXPECT_TRUE(kind.reconfigure(*engine, config));
  config.descriptors *= 2;
  EXPECT_FALSE(kind.reconfigure(*engine, config));
}

TEST(DropReasons, HaveANameEach) {
  std::set<std::string> names;
  for (const auto& [reason, name] : drop_reasons()) {
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(test::name_of(reason), name);
  }
  EXPECT_EQ(test::name_of(DropReason::truncated), "truncated");
  EXPECT_EQ(test::name_of(canary::drop::crc), "canary_crc");
  EXPECT_EQ(test::name_of(netreduce::drop::first_lost), "netreduce_first_lost");
  EXPECT_EQ(test::name_of(flare::drop::stale_run), "flare_stale_run");
}

TEST(Settings, AreOnWhereTheyWereEmplaced) {
  engine::Settings settings;
  EXPECT_TRUE(settings.empty());
  settings.emplace<panama::PanamaConfig>().packet_memory = 8;
  EXPECT_EQ(settings.find<canary::CanaryConfig>(), nullptr);
  EXPECT_EQ(settings.get<panama::PanamaConfig>().packet_memory, 8u);
  const auto copy = settings;
  settings.reset<panama::PanamaConfig>();
  EXPECT_TRUE(settings.empty());
  EXPECT_EQ(copy.get<panama::PanamaConfig>().packet_memory, 8u);
}

TEST(Engines, WhatAParserFindsWrongHasItsReasonInEachProtocol) {
  using wire::ParseError;
  std::map<DropReason, std::string> names;
  for (const auto& [reason, name] : drop_reasons()) {
    names[reason] = name;
  }
  for (const auto& [row, prefix] :
       {std::pair{Row::canary, "canary_"}, std::pair{Row::panama, "panama_"},
        std::pair{Row::flare, "flare_"}}) {
    for (const auto error : {ParseError::truncated, ParseError::oversized, ParseError::version,
                             ParseError::malformed, ParseError::crc}) {
      EXPECT_EQ(names[drop_reason_of(error, row)], prefix + std::string(wire::name(error)));
    }
  }
  EXPECT_FALSE(begin_as_parse_errors(netreduce::drop::reasons)) << "which begin with `icrc`";
}

TEST(Engines, CanaryClaimsItsPacketsAndTellsTheirBlock) {
  HeapPacketPool pool(4, 2048);
  const auto& protocol = canary_protocol();
  test::CanarySpec spec;
  spec.job = 3;
  spec.id = 4;
  for (const auto encapsulation : {wire::Encapsulation::udp, wire::Encapsulation::ethernet}) {
    spec.encapsulation = encapsulation;
    auto packet = test::make_canary(pool, spec, std::vector<std::int32_t>{1});
    const auto frame = engine::parse_frame(*packet);
    EXPECT_TRUE(protocol.claims(frame));
    EXPECT_EQ(protocol.key(frame), (std::uint64_t{3} << 32) | 4);
  }
}

TEST(Engines, CanaryLeavesOtherTrafficAlone) {
  HeapPacketPool pool(4, 2048);
  const auto& protocol = canary_protocol();
  test::CanarySpec spec;
  for (const std::uint16_t port : std::initializer_list<std::uint16_t>{16999, 17256, 17257, 53}) {
    spec.udp_port = port;
    auto packet = test::make_canary(pool, spec, std::vector<std::int32_t>{1});
    EXPECT_FALSE(protocol.claims(engine::parse_frame(*packet))) << port;
  }
  // The length of a frame with an LLC header stands where the type does; it may be none.
  spec.encapsulation = wire::Encapsulation::ethernet;
  auto llc = test::make_canary(pool, spec, std::vector<std::int32_t>{1});
  const auto frame = engine::parse_frame(*llc);
  frame.ethernet->type = std::uint16_t{0};
  for (const auto* kind : engines()) {
    EXPECT_FALSE(kind->protocol.claims(frame)) << kind->protocol.name;
  }
  EXPECT_FALSE(protocol.claims(engine::Frame{}));
  auto empty = pool.allocate();
  EXPECT_FALSE(protocol.claims(engine::parse_frame(*empty)));
  EXPECT_EQ(protocol.key(engine::parse_frame(*empty)), 0u);
}

TEST(Engines, FlareClaimsItsPacketsAndSpreadsBlocksOverFlows) {
  HeapPacketPool pool(4, 2048);
  const auto& protocol = engines()[static_cast<std::size_t>(Row::flare)]->protocol;
  EXPECT_TRUE(protocol.to_groups);
  test::FlareSpec spec;
  spec.job = 3;
  spec.block = 2 * wire::flare_flows + 5;
  auto packet = test::make_flare(pool, spec, std::vector<std::int32_t>{1});
  const auto frame = engine::parse_frame(*packet);
  EXPECT_TRUE(protocol.claims(frame));
  EXPECT_EQ(protocol.key(frame), (std::uint64_t{3} << 32) | 5);
  frame.udp->destination_port = wire::flare_udp_port + 1;
  EXPECT_FALSE(protocol.claims(frame));
  auto empty = pool.allocate();
  EXPECT_EQ(protocol.key(engine::parse_frame(*empty)), 0u);
}

}  // namespace
}  // namespace tributary::protocols
