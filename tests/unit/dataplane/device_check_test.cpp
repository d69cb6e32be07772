// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/device_check.h"

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

}  // namespace
}  // namespace tributary::dataplane
