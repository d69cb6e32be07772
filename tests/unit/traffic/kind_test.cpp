// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/kind.h"

#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/traffic_kinds.h"

namespace tributary::traffic {
namespace {

TEST(TrafficKinds, HaveNamesOfTheirOwn) {
  const auto kinds = traffic_kinds();
  std::set<std::string> names;
  for (const auto& kind : kinds) {
    names.insert(kind->name());
  }
  EXPECT_EQ(names.size(), kinds.size());
  EXPECT_EQ(kinds.front()->name(), std::string("plain"));
}

TEST(PlainKind, KeepsOffThePortsOfProtocols) {
  for (const auto& owner : protocol_traffic_kinds()) {
    const auto ports = owner->udp_ports();
    for (const int port : {ports ? ports->first : 0, ports ? ports->last : 0}) {
      if (port != 0) {
        auto conditions = test::conditions_of(Mode::run);
        EXPECT_THROW(
            test::traffic_kind("plain", conditions, "--destination-port " + std::to_string(port)),
            CLI::ValidationError);
      }
    }
  }
}

TEST(PlainKind, GoesAroundAllPorts) {
  auto conditions = test::conditions_of(Mode::run);
  conditions.stations.resize(3, conditions.stations.front());
  const auto kind = test::traffic_kind("plain", conditions, "--hosts 5 --size imix");
  EXPECT_EQ(kind->settings().dump(), R"({"sizes":"imix","flows":1,"paths":["0:1","1:2","2:0"]})");
  EXPECT_EQ(kind->lines(3), 3);
  EXPECT_EQ(conditions.stations[2].count, 5u);
}

}  // namespace
}  // namespace tributary::traffic
