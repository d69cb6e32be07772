// SPDX-License-Identifier: BSD-3-Clause
#include "control/cores.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tributary::control {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// As Linux numbers them: first one thread of each core, node after node, then the second threads.
std::vector<Cpu> machine(unsigned nodes, unsigned cores, unsigned threads) {
  std::vector<Cpu> cpus;
  for (unsigned thread = 0; thread < threads; ++thread) {
    for (unsigned node = 0; node < nodes; ++node) {
      for (unsigned core = 0; core < cores; ++core) {
        cpus.push_back({static_cast<unsigned>(cpus.size()), node, core, node});
      }
    }
  }
  return cpus;
}

TEST(PlaceCores, SmallMachines) {
  EXPECT_THAT(place_cores(machine(1, 1, 1), {}).cpus, ElementsAre(0));
  EXPECT_THAT(place_cores(machine(1, 1, 2), {}).cpus, ElementsAre(0));
  EXPECT_THAT(place_cores(machine(1, 2, 1), {}).cpus, ElementsAre(0, 1));
  EXPECT_THAT(place_cores({}, {}).cpus, ElementsAre(0));
}

TEST(PlaceCores, OneThreadOfEachCoreAndOneCoreLeft) {
  const auto placement = place_cores(machine(1, 4, 2), {});
  EXPECT_THAT(placement.cpus, ElementsAre(1, 2, 3));
  EXPECT_THAT(placement.why, HasSubstr("one thread of each core, but one for everything else"));
}

TEST(PlaceCores, OnTheNodeOfTheCards) {
  const auto placement = place_cores(machine(2, 3, 2), {{1}, {}});
  EXPECT_THAT(placement.cpus, ElementsAre(3, 4, 5)) << "the other node is left to everything else";
  EXPECT_THAT(placement.why, HasSubstr("NUMA node 1"));
  EXPECT_THAT(place_cores(machine(2, 2, 1), {{0, 1}, {}}).cpus, ElementsAre(1, 2, 3));
}

TEST(PlaceCores, ElsewhereWhereTheNodeOfTheCardsIsNotAllowed) {
  const auto placement = place_cores(machine(1, 3, 1), {{1}, {}});
  EXPECT_THAT(placement.cpus, ElementsAre(1, 2));
  EXPECT_THAT(placement.why, HasSubstr("none of which is on the cards' NUMA node 1"));
}

TEST(PlaceCores, NoMoreThanHaveSomethingToDo) {
  EXPECT_THAT(place_cores(machine(1, 16, 2), {{}, 2}).cpus, ElementsAre(1, 2));
  EXPECT_EQ(place_cores(machine(1, 16, 2), {}).cpus.size(), 8u);
  EXPECT_EQ(place_cores(machine(1, 16, 2), {{}, 100}).cpus.size(), 8u);
}

TEST(PlaceCores, CoresOfTwoPackagesMayHaveTheSameNumber) {
  EXPECT_THAT(place_cores({{0, 0, 0, 0}, {1, 1, 0, 0}}, {}).cpus, ElementsAre(0, 1));
}

class Sysfs : public testing::Test {
 protected:
  Sysfs() { std::filesystem::create_directories(root_); }
  ~Sysfs() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, int value) {
    const auto file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << value << "\n";
  }
  std::string root() const { return root_.string(); }

 private:
  std::filesystem::path root_ =
      std::filesystem::temp_directory_path() / ("cores-test-" + std::to_string(getpid()));
};

TEST_F(Sysfs, TellsNodesOfCards) {
  write("bus/pci/devices/0000:01:00.0/numa_node", 1);
  write("bus/pci/devices/0000:02:00.0/numa_node", -1);
  write("class/net/eth0/device/numa_node", 3);
  DaemonConfig config;
  auto& devices = config.switches.emplace_back().devices;
  devices = {InterfaceDevice{"eth0"}, InterfaceDevice{"veth0"}, InternalLink{"a", "b"}};
  EXPECT_THAT(work_of(config, root()).nodes, ElementsAre(3));
  EXPECT_EQ(work_of(config, root()).cores, 2u);
  devices.push_back(PciDevice{"0000:01:00.0"});
  devices.push_back(PciDevice{"0000:02:00.0"});
  EXPECT_THAT(work_of(config, root()).nodes, ElementsAre(1, 3));
  EXPECT_EQ(work_of(config, root()).cores, std::nullopt);
}

TEST_F(Sysfs, DescribesTheAllowedCpus) {
  const auto undescribed = allowed_cpus(root());
  ASSERT_FALSE(undescribed.empty());
  EXPECT_EQ(place_cores(undescribed, {}).why.find("one thread"), std::string::npos);
  const auto number = undescribed.front().number;
  const auto cpu = "devices/system/cpu/cpu" + std::to_string(number) + "/";
  write(cpu + "topology/core_id", 70);
  write(cpu + "topology/physical_package_id", 2);
  write(cpu + "node4/cpulist", 0);
  const auto described = allowed_cpus(root()).front();
  EXPECT_EQ(described.number, number);
  EXPECT_EQ(described.core, 70u);
  EXPECT_EQ(described.package, 2u);
  EXPECT_EQ(described.node, 4u);
}

}  // namespace
}  // namespace tributary::control
