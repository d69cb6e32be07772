// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/kind.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/traffic_kinds.h"

namespace tributary::panama {
namespace {

using test::Ip;
using test::mac;
using traffic::Mode;

TEST(PanamaKind, HasAWorkerAtEveryPortButTheRoots) {
  auto conditions = test::conditions_of(Mode::run);
  conditions.stations.resize(4, conditions.stations.front());
  const auto kind = test::traffic_kind("panama", conditions, "--parent 3");
  EXPECT_EQ(kind->lines(4), 3);
  EXPECT_EQ(kind->settings().dump(),
            R"({"workers":3,"jobs":1,"trees":1,"window":64,"collective":1024,"elements":256,)"
            R"("kinds":[{"type":"f32","op":"sum"}]})");
}

TEST(PanamaKind, HasAFileForEveryWorker) {
  auto conditions = test::conditions_of(Mode::pcap);
  const auto kind = test::traffic_kind("panama", conditions, "--workers 3");
  EXPECT_EQ(kind->files(), 3u);
  ASSERT_EQ(conditions.stations.size(), 3u);
  EXPECT_EQ(conditions.stations[2].mac, mac(3));
  EXPECT_EQ(conditions.stations[2].address, (Ip{10, 0, 0, 3}));
}

TEST(PanamaKind, TellsASwitchThatIsFedItsTrees) {
  auto conditions = test::conditions_of(Mode::pcap);
  const auto kind = test::traffic_kind("panama", conditions, "--workers 2 --trees 2 --first-job 7");
  EXPECT_EQ(kind->switch_settings(traffic::Stations(conditions.stations)),
            "# Trees for the switch's configuration:\n"
            "[[switch.panama.tree]]\njob = 7\ntree = 0\ngroup = \"239.192.0.1\"\n"
            "children = [\"feed0\", \"feed1\"]\nworkers = 2\nworkers_below = 2\n"
            "[[switch.panama.tree]]\njob = 7\ntree = 1\ngroup = \"239.192.0.2\"\n"
            "children = [\"feed0\", \"feed1\"]\nworkers = 2\nworkers_below = 2\n");
}

}  // namespace
}  // namespace tributary::panama
