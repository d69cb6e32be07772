// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/kind.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "engine/frame.h"
#include "protocols/canary/wire.h"
#include "support/traffic_kinds.h"

namespace tributary::canary {
namespace {

using traffic::Mode;

TEST(CanaryKind, KeepsEveryContributionOfWhatIsInFlight) {
  auto conditions = test::conditions_of(Mode::run);
  const auto kind =
      test::traffic_kind("canary", conditions, "--workers 3 --jobs 2 --blocks 16 --type i8,i16");
  EXPECT_EQ(kind->packets_kept(), 3u * 2 * 16);
  EXPECT_EQ(kind->lines(1), 1);
  EXPECT_EQ(kind->lines(5), 3);
  EXPECT_EQ(conditions.stations[0].count, 3u);
  EXPECT_EQ(kind->settings().dump(),
            R"({"workers":3,"jobs":2,"blocks_in_flight":16,"elements":256,)"
            R"("kinds":[{"type":"i8","op":"sum"},{"type":"i16","op":"sum"}],)"
            R"("encapsulation":"udp"})");
}

TEST(CanaryKind, WritesABlockToTheFileOfTheCoreThatOwnsIt) {
  auto conditions = test::conditions_of(Mode::pcap);
  const auto kind = test::traffic_kind("canary", conditions,
                                       "--switch 10.0.0.254 --workers 4 --blocks 40 --cores 3");
  ASSERT_EQ(kind->files(), 3u);
  HeapPacketPool pool(64, 2048);
  std::map<std::uint64_t, std::set<std::size_t>> files;  // by block
  std::vector<std::size_t> frames(3);
  const traffic::Stations stations(conditions.stations);
  const auto take = [&](std::size_t file, Packet& frame) {
    files[wire::peek_canary_key(engine::parse_frame(frame).payload)].insert(file);
    ++frames.at(file);
  };
  kind->feed({stations, pool, take});
  EXPECT_EQ(files.size(), 40u);
  for (const auto& [key, of_block] : files) {
    EXPECT_EQ(of_block.size(), 1u) << key;
  }
  EXPECT_EQ(frames[0] + frames[1] + frames[2], 40u * 4);
  EXPECT_GT(frames[0] * frames[1] * frames[2], 0u);
}

// The generator has nothing to compare their results with.
TEST(CanaryKind, RefusesHandlers) {
  auto conditions = test::conditions_of(Mode::run);
  EXPECT_THROW(test::traffic_kind("canary", conditions, "--workers 3 --op handler:3"),
               CLI::ParseError);
}

TEST(CanaryKind, TranslatesNothingDirectlyOverEthernet) {
  for (const bool udp : {true, false}) {
    auto conditions = test::conditions_of(Mode::run);
    conditions.stations[0].prefix = wire::EmbeddingPrefix{0x20010db800640000, 0};
    const auto kind = test::traffic_kind(
        "canary", conditions,
        std::string("--workers 3 --encapsulation ") + (udp ? "udp" : "ethernet"));
    const auto growth = kind->edge(traffic::Stations(conditions.stations)).growth();
    EXPECT_EQ(growth, udp ? ipv6_longer_by : 0u);
  }
}

TEST(CanaryKind, TellsASwitchThatIsFedWhereItsHostsAre) {
  auto conditions = test::conditions_of(Mode::pcap);
  const auto kind = test::traffic_kind("canary", conditions, "--switch 10.0.0.254 --workers 2");
  EXPECT_EQ(kind->switch_settings(traffic::Stations(conditions.stations)),
            "# The switch cannot ask for its neighbours; put this into its configuration:\n"
            "[[switch.arp]]\naddress = \"10.0.0.1\"\nmac = \"02:00:00:00:00:01\"\n"
            "[[switch.arp]]\naddress = \"10.0.0.2\"\nmac = \"02:00:00:00:00:02\"\n");
}

}  // namespace
}  // namespace tributary::canary
