// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/kind.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/traffic_kinds.h"

namespace tributary::flare {
namespace {

using test::Ip;
using test::mac;
using traffic::Mode;

TEST(FlareKind, HasAWorkerAtEveryPortButTheRoots) {
  auto conditions = test::conditions_of(Mode::run);
  conditions.stations.resize(4, conditions.stations.front());
  const auto kind = test::traffic_kind("flare", conditions, "--parent 3 --window 16");
  EXPECT_EQ(kind->lines(4), 3);
  EXPECT_EQ(kind->settings().dump(), R"({"workers":3,"jobs":1,"window":16,"elements":256,)"
                                     R"("kinds":[{"type":"f32","op":"sum"}]})");
}

TEST(FlareKind, HasAFileForEveryWorker) {
  auto conditions = test::conditions_of(Mode::pcap);
  const auto kind = test::traffic_kind("flare", conditions, "--workers 3");
  EXPECT_EQ(kind->files(), 3u);
  ASSERT_EQ(conditions.stations.size(), 3u);
  EXPECT_EQ(conditions.stations[2].mac, mac(3));
  EXPECT_EQ(conditions.stations[2].address, (Ip{10, 0, 0, 3}));
}

TEST(FlareKind, TellsASwitchThatIsFedItsTrees) {
  auto conditions = test::conditions_of(Mode::pcap);
  const auto kind =
      test::traffic_kind("flare", conditions, "--workers 2 --jobs 2 --first-job 7 --window 8");
  EXPECT_EQ(kind->switch_settings(traffic::Stations(conditions.stations)),
            "# Trees for the switch's configuration:\n"
            "[[switch.flare.tree]]\njob = 7\nwindow = 8\ngroup = \"239.192.0.1\"\n"
            "children = [\"feed0\", \"feed1\"]\nworkers = 2\nworkers_below = 2\n"
            "[[switch.flare.tree]]\njob = 8\nwindow = 8\ngroup = \"239.192.0.2\"\n"
            "children = [\"feed0\", \"feed1\"]\nworkers = 2\nworkers_below = 2\n");
}

TEST(FlareKind, FillsPacketsOfSparseBlocksUnlessTold) {
  auto conditions = test::conditions_of(Mode::run);
  conditions.stations.resize(3, conditions.stations.front());
  const auto most = test::traffic_kind("flare", conditions, "--density 0.1 --window 8");
  EXPECT_EQ(most->settings().dump(),
            R"({"workers":3,"jobs":1,"window":8,"density":0.1,"shards":1,"pairs":234,"span":2340,)"
            R"("kinds":[{"type":"f32","op":"sum"}]})");
  const auto told =
      test::traffic_kind("flare", conditions, "--density 0.01 --shards 2 --pairs 20 --type i8,f64");
  EXPECT_EQ(told->settings()["span"], 4000);
  // 32 packets of all its elements are the longest block.
  const auto thin = test::traffic_kind("flare", conditions, "--density 0.001");
  EXPECT_EQ(thin->settings()["pairs"], 11);
}

TEST(FlareKind, TellsASwitchThatIsFedSparseBlocksTheirTrees) {
  auto conditions = test::conditions_of(Mode::pcap);
  const auto kind =
      test::traffic_kind("flare", conditions, "--workers 2 --window 8 --density 0.02");
  const auto text = kind->switch_settings(traffic::Stations(conditions.stations));
  EXPECT_NE(text.find("job = 1\nwindow = 1\nsparse_window = 8\n"), std::string::npos) << text;
}

TEST(FlareKind, RefusesSparseBlocksThatThereCannotBe) {
  for (const auto* options : {"--density 0", "--density 1.1", "--density 0.00001", "--shards 2",
                              "--pairs 2", "--density 0.1 --pairs 235", "--density 0.1 --shards 33",
                              "--density 0.1 --op max", "--density 0.1 --type i4"}) {
    auto conditions = test::conditions_of(Mode::run);
    EXPECT_THROW(test::traffic_kind("flare", conditions, options), CLI::ParseError) << options;
  }
}

TEST(FlareKind, RefusesWhatSwitchesWould) {
  for (const auto* options : {"--window 4097", "--window 0", "--group 10.0.0.1", "--workers 2",
                              "--elements 400", "--parent 1"}) {
    auto conditions = test::conditions_of(Mode::run);
    EXPECT_THROW(test::traffic_kind("flare", conditions, options), CLI::ParseError) << options;
  }
}

}  // namespace
}  // namespace tributary::flare
