// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/driver_files.h"

#include <cerrno>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/device_arguments.h"
#include "support/temporary_directory.h"

namespace tributary::dataplane {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

class DriverFiles : public testing::Test {
 protected:
  DriverFiles() {
    for (const char* name :
         {"librte_bus_vdev.so.23", "librte_mempool_ring.so", "librte_mempool_stack.so.23.0",
          "librte_net_af_packet.so.23", "librte_net_tap.so", "librte_net_virtio.so",
          "librte_net_ixgbe.so", "librte_net_af_xdp.so", "librte_net_pcap.so", "librte_net_ring.so",
          "librte_net_vhost.so"}) {
      std::ofstream(directory_ / name);
    }
  }

  std::vector<std::string> of(std::vector<control::DeviceConfig> devices) const {
    control::DaemonConfig config;
    config.switches.emplace_back().devices = std::move(devices);
    auto files = driver_files(config, directory_.path());
    for (auto& file : files) {
      file = file.substr(file.rfind('/') + 1);
    }
    return files;
  }

  const test::TemporaryDirectory directory_;
};

TEST_F(DriverFiles, AreThoseOfThePortsAndOfTheEal) {
  EXPECT_THAT(of({control::InterfaceDevice{}, control::InterfaceDevice{}}),
              UnorderedElementsAre("librte_bus_vdev.so.23", "librte_mempool_ring.so",
                                   "librte_mempool_stack.so.23.0", "librte_net_af_packet.so.23"));
  EXPECT_THAT(of({control::TapDevice{}, control::VirtioUserDevice{}, control::InternalLink{}}),
              UnorderedElementsAre("librte_bus_vdev.so.23", "librte_mempool_ring.so",
                                   "librte_mempool_stack.so.23.0", "librte_net_tap.so",
                                   "librte_net_virtio.so"));
}

TEST_F(DriverFiles, AreThereForEveryKindOfPort) {
  control::InterfaceDevice af_xdp;
  af_xdp.driver = control::InterfaceDevice::Driver::af_xdp;
  for (const control::DeviceConfig& device :
       {control::DeviceConfig{af_xdp}, control::DeviceConfig{control::PcapDevice{}},
        control::DeviceConfig{control::RingDevice{}},
        control::DeviceConfig{control::VhostDevice{}}}) {
    EXPECT_THAT(of({device}), testing::SizeIs(4)) << describe(device);
  }
}

TEST_F(DriverFiles, AreAllWhereItCannotBeTold) {
  EXPECT_THAT(of({control::InterfaceDevice{}, control::PciDevice{"0000:01:00.0"}}), IsEmpty());
  EXPECT_THAT(of({control::RawDevice{"net_failsafe0,dev(net_tap1)"}}), IsEmpty());
  EXPECT_THAT(of({control::MemifDevice{}}), IsEmpty());  // its driver is not there
  control::DaemonConfig config;
  EXPECT_THAT(driver_files(config, "/nowhere"), IsEmpty());
}

TEST_F(DriverFiles, AHiddenDirectoryIsNotFoundOnce) {
  struct stat64 status {};
  const std::string name = directory_.path();
  EXPECT_EQ(stat64(name.c_str(), &status), 0);
  hide_once(name.c_str());
  EXPECT_EQ(stat64((name + "/librte_net_tap.so").c_str(), &status), 0);
  EXPECT_EQ(stat64(name.c_str(), &status), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(stat64(name.c_str(), &status), 0);
}

}  // namespace
}  // namespace tributary::dataplane
