// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/eal_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tributary::dataplane {
namespace {

using testing::Contains;
using testing::Not;

control::DaemonConfig on_cores(std::vector<unsigned> cores) {
  control::DaemonConfig config;
  config.cores = std::move(cores);
  return config;
}

MemoryPlan memory(bool hugepages) {
  MemoryPlan plan;
  plan.megabytes = 77;
  plan.hugepages = hugepages;
  return plan;
}

TEST(EalArguments, WithoutHugepagesTakesThePlannedMemory) {
  const auto arguments = eal_arguments(on_cores({0}), memory(false), {0, 1}, "42");
  EXPECT_THAT(arguments, Contains("--no-huge"));
  EXPECT_THAT(arguments, Contains("77"));
  EXPECT_THAT(arguments, Not(Contains("--in-memory")));
  EXPECT_THAT(arguments, Contains("--file-prefix=tributary-42"));
}

TEST(EalArguments, WithHugepagesLeavesNoFiles) {
  const auto arguments = eal_arguments(on_cores({0}), memory(true), {0, 1}, "42");
  EXPECT_THAT(arguments, Contains("--in-memory"));
  EXPECT_THAT(arguments, Not(Contains("--no-huge")));
}

// A backend maps at most eight files.
TEST(EalArguments, HugepagesThatABackendMapsAreOneFile) {
  auto plan = memory(true);
  EXPECT_THAT(eal_arguments(on_cores({0}), plan, {0}, "42"),
              Not(Contains("--single-file-segments")));
  plan.shared = true;
  EXPECT_THAT(eal_arguments(on_cores({0}), plan, {0}, "42"), Contains("--single-file-segments"));
  plan.hugepages = false;
  EXPECT_THAT(eal_arguments(on_cores({0}), plan, {0}, "42"),
              Not(Contains("--single-file-segments")));
}

TEST(EalArguments, PinsPacketCoresAndLetsTheControlThreadFloat) {
  const auto arguments = eal_arguments(on_cores({3, 1}), memory(false), {0, 1, 3}, "42");
  EXPECT_THAT(arguments, Contains("--lcores=0@(0,1,3),1@3,2@1"));
}

TEST(EalArguments, AllowsOnlyTheConfiguredPciDevices) {
  auto config = on_cores({0});
  EXPECT_THAT(eal_arguments(config, memory(false), {0}, "42"), Contains("--no-pci"));
  control::SwitchSection section;
  section.config.ports.resize(1);
  section.devices = {control::PciDevice{"0000:01:00.0"}};
  config.switches.push_back(section);
  const auto arguments = eal_arguments(config, memory(false), {0}, "42");
  EXPECT_THAT(arguments, Contains("--allow=0000:01:00.0"));
  EXPECT_THAT(arguments, Not(Contains("--no-pci")));
}

}  // namespace
}  // namespace tributary::dataplane
