// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/device_check.h"

#include <cerrno>

#include <gtest/gtest.h>

namespace tributary::dataplane {
namespace {

std::string complaint(const control::DeviceConfig& device) {
  const auto checked = check_device(device);
  return checked ? "" : checked.error();
}

TEST(CheckDevice, SaysWhichFileOfAPcapIsMissing) {
  EXPECT_EQ(complaint(control::PcapDevice{{"/dev/null", "/nowhere/a.pcap"}, "", false}),
            "cannot read /nowhere/a.pcap: No such file or directory");
  EXPECT_EQ(complaint(control::PcapDevice{{"/dev/null"}, "/nowhere/b.pcap", false}),
            "cannot use directory /nowhere: No such file or directory");
  EXPECT_EQ(complaint(control::PcapDevice{{"/dev/null"}, "/dev/null", false}), "");
  EXPECT_EQ(complaint(control::PcapDevice{{}, "new-file.pcap", false}), "");
}

TEST(CheckDevice, ASocketNeedsADirectory) {
  EXPECT_EQ(complaint(control::MemifDevice{"/nowhere/x.sock"}),
            "cannot use directory /nowhere: No such file or directory");
  EXPECT_EQ(complaint(control::MemifDevice{"/tmp/x.sock"}), "");
  EXPECT_EQ(complaint(control::MemifDevice{"./x.sock"}), "");
  EXPECT_NE(complaint(control::MemifDevice{"x.sock"}).find("./"), std::string::npos);
}

TEST(CheckDevice, ATapHasTheNameOfAnInterface) {
  EXPECT_EQ(complaint(control::TapDevice{"fifteen-letters"}), "");
  EXPECT_NE(complaint(control::TapDevice{"sixteen-letters-"}).find("15"), std::string::npos);
}

TEST(ChooseQueues, AutomaticOnesAreOneForEachCoreThatTheDeviceCanHave) {
  const control::PciDevice card{.queues = control::queues_automatic};
  EXPECT_EQ(choose_queues(card, 4, 16).value(), 4);
  EXPECT_EQ(choose_queues(card, 4, 2).value(), 2);
}

TEST(ChooseQueues, ADeviceWithoutReceiveQueuesIsRefused) {
  const control::PciDevice card{.queues = control::queues_automatic};
  ASSERT_FALSE(choose_queues(card, 4, 0));
  EXPECT_NE(choose_queues(card, 4, 0).error().find("no receive queue"), std::string::npos);
}

TEST(HearsEverything, ACardMustBeTold) {
  EXPECT_TRUE(hears_everything(0, "pci"));
  EXPECT_FALSE(hears_everything(-ENOTSUP, "pci"));
  EXPECT_TRUE(hears_everything(-ENOTSUP, "vdev"));
  EXPECT_FALSE(hears_everything(-EPERM, "vdev"));
}

}  // namespace
}  // namespace tributary::dataplane
