// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/kind.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/traffic_kinds.h"

namespace tributary::netreduce {
namespace {

using traffic::Mode;

TEST(NetReduceKind, NeedsPacketsThatFitTheMtu) {
  auto conditions = test::conditions_of(Mode::run);
  EXPECT_THROW(test::traffic_kind("netreduce", conditions, "--path-mtu 2048"),
               CLI::ValidationError);
  conditions.mtu = 4000;
  const auto kind = test::traffic_kind("netreduce", conditions, "--path-mtu 2048 --op max");
  EXPECT_EQ(kind->settings().dump(),
            R"({"workers":8,"jobs":1,"window":2,"message_packets":64,"path_mtu":2048,)"
            R"("kinds":[{"type":"f32","op":"max"}]})");
}

TEST(NetReduceKind, NeedsRingsThatASwitchHasRoomFor) {
  auto conditions = test::conditions_of(Mode::pcap);
  EXPECT_THROW(test::traffic_kind("netreduce", conditions, "--workers 64 --message-packets 512"),
               CLI::ValidationError);
  EXPECT_NE(test::traffic_kind("netreduce", conditions, "--workers 64 --message-packets 256"),
            nullptr);
}

TEST(NetReduceKind, TellsASwitchThatIsFedItsHostsAndRings) {
  auto conditions = test::conditions_of(Mode::pcap);
  const auto kind =
      test::traffic_kind("netreduce", conditions, "--workers 2 --jobs 2 --first-ring 4");
  EXPECT_EQ(kind->switch_settings(traffic::Stations(conditions.stations)),
            "# The switch cannot ask for its neighbours; put this into its configuration:\n"
            "[[switch.arp]]\naddress = \"10.0.0.1\"\nmac = \"02:00:00:00:00:01\"\n"
            "[[switch.arp]]\naddress = \"10.0.0.2\"\nmac = \"02:00:00:00:00:02\"\n"
            "[switch.netreduce]\n"
            "[[switch.netreduce.ring]]\nid = 4\nmembers = [\"10.0.0.1\", \"10.0.0.2\"]\n"
            "message_packets = 64\nmtu = 1024\n"
            "[[switch.netreduce.ring]]\nid = 5\nmembers = [\"10.0.0.1\", \"10.0.0.2\"]\n"
            "message_packets = 64\nmtu = 1024\n");
}

}  // namespace
}  // namespace tributary::netreduce
