// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/loader.h"
#include "controller/fabric_file.h"
#include "controller/placement.h"

namespace tributary::control {
namespace {

namespace fs = std::filesystem;

// Every configuration of a daemon in conf/; conf/labs describes labs, conf/fabrics whole fabrics.
std::vector<fs::path> configurations() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(TRIBUTARY_CONF)) {
    const auto folder = entry.path().parent_path().filename();
    if (entry.path().extension() == ".toml" && folder != "labs" && folder != "fabrics") {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

TEST(Conf, EverySampleLoads) {
  EXPECT_GE(configurations().size(), 8u);
  for (const fs::path& path : configurations()) {
    const auto config = load_config(path.string());
    if (!config) {
      for (const ConfigError& error : config.error()) {
        ADD_FAILURE() << error.file << ":" << error.line << ":" << error.column << ": "
                      << error.message << " " << error.hint;
      }
    }
  }
}

// The links and hosts of a fabric are ports of the switches that the daemon's sample of the same
// name has, and its jobs have places there.
TEST(Conf, EveryFabricMatchesItsSwitches) {
  std::size_t fabrics = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(TRIBUTARY_CONF) / "fabrics")) {
    const auto fabric = controller::load_fabric(entry.path().string());
    ASSERT_TRUE(fabric) << to_string(fabric.error());
    const auto config = load_config(fs::path(TRIBUTARY_CONF) / entry.path().filename());
    ASSERT_TRUE(config) << to_string(config.error());
    const auto expect_port = [&](const controller::SwitchPort& at) {
      const auto& name = fabric->topology.switches[at.switch_index].name;
      const bool found = std::any_of(
          config->switches.begin(), config->switches.end(), [&](const SwitchSection& section) {
            const auto& ports = section.config.ports;
            return section.config.name == name &&
                   std::any_of(ports.begin(), ports.end(),
                               [&](const auto& port) { return port.name == at.port; });
          });
      EXPECT_TRUE(found) << entry.path() << ": " << name << ":" << at.port;
    };
    for (const auto& link : fabric->topology.links) {
      expect_port(link.a);
      expect_port(link.b);
    }
    auto topology = fabric->topology;
    for (const auto& host : topology.hosts) {
      expect_port(host.at);
    }
    for (auto& sw : topology.switches) {
      sw.trees_max = 256;
    }
    const auto placed = controller::place_what_fits(topology, fabric->jobs, {}, fabric->groups);
    EXPECT_TRUE(placed.refusals.empty()) << entry.path();
    ++fabrics;
  }
  EXPECT_GE(fabrics, 3u);
}

}  // namespace
}  // namespace tributary::control
