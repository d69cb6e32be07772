// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/device_check.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "control/socket_file.h"
#include "dataplane/peer_socket.h"
#include "support/temporary_directory.h"

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
}

TEST(CheckDevice, TheSocketOfAVirtualMachineNeedsADirectoryToo) {
  EXPECT_EQ(complaint(control::VhostDevice{"/nowhere/x.sock"}),
            "cannot use directory /nowhere: No such file or directory");
  EXPECT_EQ(complaint(control::VhostDevice{"/tmp/x.sock"}), "");
}

TEST(CheckDevice, AFileInTheWayOfASocketIsNotRemoved) {
  const test::TemporaryDirectory directory;
  const auto path = directory / "x.sock";
  std::ofstream(path) << "precious";
  for (const control::DeviceConfig& device : std::initializer_list<control::DeviceConfig>{
           control::VhostDevice{path}, control::MemifDevice{path, 0, true}}) {
    EXPECT_NE(complaint(device).find("exists and is no socket"), std::string::npos);
  }
}

TEST(CheckDevice, AClientConnectsToNoOrdinaryFile) {
  for (const control::DeviceConfig& device : std::initializer_list<control::DeviceConfig>{
           control::VhostDevice{"/dev/null", false}, control::MemifDevice{"/dev/null"}}) {
    EXPECT_NE(complaint(device).find("/dev/null is no socket; name the one"), std::string::npos);
  }
}

TEST(CheckDevice, VirtioUserNeedsSomebodyWhoServesIt) {
  const test::TemporaryDirectory directory;
  const auto path = directory / "x.sock";
  const control::VirtioUserDevice device{path};
  EXPECT_NE(complaint(device).find("nobody serves " + path), std::string::npos);
  const int listening = socket(AF_UNIX, SOCK_STREAM, 0);
  const auto address = control::unix_address(path).value();
  ASSERT_EQ(bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listening, 1), 0);
  EXPECT_EQ(complaint(device), "");
  close(listening);
  EXPECT_NE(complaint(device).find("nobody serves " + path), std::string::npos) << "any more";
  EXPECT_NE(complaint(control::VirtioUserDevice{"/dev/null"}).find("is no socket"),
            std::string::npos);
}

TEST(CheckDevice, AClientFollowsASymbolicLinkToItsServer) {
  const test::TemporaryDirectory directory;
  const auto path = directory / "x.sock";
  const auto link = directory / "link";
  std::filesystem::create_symlink(path, link);
  const control::VirtioUserDevice virtio{link};
  const control::MemifDevice memif{link};
  EXPECT_NE(complaint(virtio).find("nobody serves " + link), std::string::npos);
  EXPECT_EQ(complaint(memif), "") << "the server may come later";
  const int listening = socket(AF_UNIX, SOCK_STREAM, 0);
  const auto address = control::unix_address(path).value();
  ASSERT_EQ(bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listening, 1), 0);
  EXPECT_EQ(complaint(virtio), "");
  EXPECT_EQ(complaint(memif), "");
  EXPECT_TRUE(is_served(memif));
  EXPECT_NE(complaint(control::VhostDevice{link}).find("exists and is no socket"),
            std::string::npos)
      << "a server would not follow it";
  close(listening);
}

TEST(CheckDevice, AClientHasTheRightToConnect) {
  constexpr uid_t nobody = 65534;
  if (geteuid() != 0 || seteuid(nobody) != 0 || seteuid(0) != 0) {
    GTEST_SKIP() << "only root can be somebody else for a while";
  }
  const test::TemporaryDirectory directory;
  const auto path = directory / "x.sock";
  std::filesystem::permissions(std::filesystem::path(path).parent_path(),
                               std::filesystem::perms(0755));
  const int listening = socket(AF_UNIX, SOCK_STREAM, 0);
  const auto address = control::unix_address(path).value();
  ASSERT_EQ(bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listening, 1), 0);
  std::filesystem::permissions(path, std::filesystem::perms(0755));
  ASSERT_EQ(seteuid(nobody), 0);
  const auto memif = complaint(control::MemifDevice{path});
  const auto vhost = complaint(control::VhostDevice{path, false});
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_NE(memif.find("may not connect to " + path), std::string::npos) << memif;
  EXPECT_NE(vhost.find("may not connect to " + path), std::string::npos) << vhost;
  EXPECT_EQ(complaint(control::MemifDevice{path}), "");
  close(listening);
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
