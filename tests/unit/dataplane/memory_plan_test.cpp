// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/memory_plan.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/temporary_directory.h"

namespace tributary::dataplane {
namespace {

control::DaemonConfig with_mtu(std::uint16_t mtu) {
  control::DaemonConfig config;
  control::SwitchSection section;
  section.config.ports.resize(2);
  section.config.ports[1].mtu = mtu;
  section.devices.resize(2);
  config.switches.push_back(section);
  return config;
}

TEST(SlotBytes, HoldFrameTagAndSlotHeader) {
  EXPECT_EQ(slot_bytes_for(1500), 2048u);
  EXPECT_EQ(slot_bytes_for(1934), 2048u);
  EXPECT_EQ(slot_bytes_for(1935), 4096u);
  EXPECT_EQ(slot_bytes_for(9000), 16384u);
}

TEST(PlanMemory, TheLargestMtuSizesAllBuffers) {
  const auto plan = plan_memory(with_mtu(4200), 0);
  EXPECT_EQ(plan.slot_bytes, 8192u);
  EXPECT_EQ(plan.buffer_bytes, 8192u + 128u);
}

TEST(PlanMemory, IsModestForALab) {
  const auto plan = plan_memory(with_mtu(1500), 0);
  EXPECT_GE(plan.own_megabytes, 16384ull * (2048 + 128 + 128 + 64) >> 20);
  EXPECT_LE(plan.own_megabytes + plan.megabytes, 80u);
}

// What others reach, cards by DMA and backends by a file, is in the EAL's memory.
TEST(PlanMemory, BuffersAreApartWhereOnlyThisProcessReachesThem) {
  auto config = with_mtu(1500);
  EXPECT_GT(plan_memory(config, 0).own_megabytes, 0u);
  EXPECT_FALSE(plan_memory(config, 0).shared);
  EXPECT_EQ(plan_memory(config, 1000).own_megabytes, 0u);  // in huge pages
  const auto all = plan_memory(config, 1000).megabytes;
  config.switches[0].devices[1] = control::PciDevice{};
  EXPECT_EQ(plan_memory(config, 0).own_megabytes, 0u);
  EXPECT_EQ(plan_memory(config, 0).megabytes, all);
  config.switches[0].devices[1] = control::VhostDevice{};
  EXPECT_FALSE(plan_memory(config, 0).shared);
  EXPECT_GT(plan_memory(config, 0).own_megabytes, 0u);
  config.switches[0].devices[1] = control::VirtioUserDevice{};
  EXPECT_EQ(plan_memory(config, 0).own_megabytes, 0u);
  EXPECT_TRUE(plan_memory(config, 0).shared);
  config.switches[0].devices[1] = control::RawDevice{"net_virtio_user0,path=/run/vm.sock"};
  EXPECT_EQ(plan_memory(config, 0).own_megabytes, 0u);
}

// Their ends are never touched, which huge pages would have in memory.
TEST(PlanMemory, LargeBuffersStayInSmallPages) {
  EXPECT_GT(plan_memory(with_mtu(1934), 0).own_megabytes, 0u);
  EXPECT_EQ(plan_memory(with_mtu(1935), 0).own_megabytes, 0u);
}

// The store keeps an element of its stack for each buffer.
TEST(PlanMemory, HasRoomForTheStackOfManyBuffers) {
  auto config = with_mtu(1500);
  config.packets = 4u << 20;
  const auto plan = plan_memory(config, 0);
  EXPECT_GE(std::uint64_t{plan.own_megabytes} << 20, (std::uint64_t{4} << 20) * (2048 + 128 + 320));
  EXPECT_GE(std::uint64_t{plan.megabytes} << 20, (std::uint64_t{4} << 20) * 16 + (16u << 20));
}

TEST(PlanMemory, AutomaticUsesHugepagesOnlyWhenEnoughAreFree) {
  auto config = with_mtu(1500);
  EXPECT_FALSE(plan_memory(config, 10).hugepages);
  EXPECT_TRUE(plan_memory(config, 1000).hugepages);
  config.hugepages = control::Hugepages::never;
  EXPECT_FALSE(plan_memory(config, 1000).hugepages);
  config.hugepages = control::Hugepages::always;
  EXPECT_TRUE(plan_memory(config, 0).hugepages);
}

TEST(FreeHugepageMegabytes, AddsUpAllSizes) {
  const auto root =
      std::filesystem::temp_directory_path() / ("hugepages-test-" + std::to_string(getpid()));
  std::filesystem::create_directories(root / "hugepages-2048kB");
  std::filesystem::create_directories(root / "hugepages-1048576kB");
  std::ofstream(root / "hugepages-2048kB" / "free_hugepages") << 5;
  std::ofstream(root / "hugepages-1048576kB" / "free_hugepages") << 1;
  EXPECT_EQ(free_hugepage_megabytes(root.c_str()), 1034u);
  std::filesystem::remove_all(root);
  EXPECT_EQ(free_hugepage_megabytes(root.c_str()), 0u);
}

TEST(AvailableMegabytes, AreWhatTheKernelSays) {
  const test::TemporaryDirectory directory;
  const auto file = directory / "meminfo";
  std::ofstream(file)
      << "MemTotal:       24683808 kB\nMemFree:  1 kB\nMemAvailable:   2097152 kB\n";
  EXPECT_EQ(available_megabytes(file.c_str()), 2048u);
  std::ofstream(file) << "nothing of the kind\n";
  EXPECT_EQ(available_megabytes(file.c_str()), std::nullopt);
  EXPECT_EQ(available_megabytes("/nowhere"), std::nullopt);
}

TEST(CheckMemory, MoreThanThereIsIsRefused) {
  auto config = with_mtu(9000);
  config.packets = 4u << 20;
  const auto plan = plan_memory(config, 0);
  const auto megabytes = plan.megabytes + plan.own_megabytes;
  EXPECT_TRUE(check_memory(plan, megabytes));
  EXPECT_TRUE(check_memory(plan, std::nullopt));
  const auto checked = check_memory(plan, megabytes - 1);
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().find("4194304 buffers"), std::string::npos) << checked.error();
  EXPECT_NE(checked.error().find("daemon.packets"), std::string::npos) << checked.error();
  config.hugepages = control::Hugepages::always;  // counted elsewhere
  EXPECT_TRUE(check_memory(plan_memory(config, 0), 1));
}

}  // namespace
}  // namespace tributary::dataplane
