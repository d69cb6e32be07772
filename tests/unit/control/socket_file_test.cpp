// SPDX-License-Identifier: BSD-3-Clause
#include "control/socket_file.h"

#include <filesystem>
#include <fstream>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/temporary_directory.h"

namespace tributary::control {
namespace {

class LookAtSocket : public testing::Test {
 protected:
  ~LookAtSocket() override { std::filesystem::remove(path_); }

  // Returns a listening socket.
  int serve() const {
    const int served = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
    const auto address = unix_address(path_);
    EXPECT_EQ(bind(served, reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)), 0);
    EXPECT_EQ(listen(served, 4), 0);
    return served;
  }

  std::string path_ =
      std::filesystem::temp_directory_path() / ("socket-file-test-" + std::to_string(getpid()));
};

TEST_F(LookAtSocket, TellsTheServedFromTheStale) {
  EXPECT_EQ(look_at_socket(path_, SOCK_SEQPACKET), SocketFile::none);
  const int served = serve();
  EXPECT_EQ(look_at_socket(path_, SOCK_SEQPACKET), SocketFile::served);
  close(served);
  EXPECT_EQ(look_at_socket(path_, SOCK_SEQPACKET), SocketFile::stale);
  EXPECT_EQ(look_at_socket(path_, SOCK_DGRAM), SocketFile::stale);
}

TEST_F(LookAtSocket, IsStaleWhereTheKernelKeepsTheSocketOfADeadProcess) {
  const int kept = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  const auto address = unix_address(path_);
  ASSERT_EQ(bind(kept, reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)), 0);
  const pid_t listener = fork();
  if (listener == 0) {
    _exit(listen(kept, 4) == 0 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(listener, &status, 0), listener);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(look_at_socket(path_, SOCK_SEQPACKET), SocketFile::stale);
  close(kept);
}

TEST_F(LookAtSocket, WithAnotherTypeIsNotNoticed) {
  const int served = serve();
  EXPECT_EQ(look_at_socket(path_, SOCK_DGRAM), SocketFile::served);
  EXPECT_EQ(accept(served, nullptr, nullptr), -1) << "nobody came";
  close(served);
}

TEST_F(LookAtSocket, LeavesFilesAlone) {
  std::ofstream(path_) << "mine";
  EXPECT_EQ(look_at_socket(path_, SOCK_DGRAM), SocketFile::other);
}

TEST(MissingDirectory, IsTheOneThatNobodyMakes) {
  const tributary::test::TemporaryDirectory root;
  EXPECT_EQ(missing_directory(root / "control.sock"), std::nullopt);
  EXPECT_EQ(missing_directory(root / "run/control.sock"), std::nullopt) << "the daemon makes it";
  EXPECT_EQ(missing_directory(root / "var/run/control.sock"), root / "var");
  EXPECT_EQ(missing_directory("control.sock"), std::nullopt);
  std::ofstream(root / "file") << "mine";
  EXPECT_EQ(missing_directory(root / "file/control.sock"), root / "file");
  EXPECT_EQ(missing_directory(root / "file/run/control.sock"), root / "file");
}

}  // namespace
}  // namespace tributary::control
