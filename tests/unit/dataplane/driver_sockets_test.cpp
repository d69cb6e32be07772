// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/driver_sockets.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace tributary::dataplane {
namespace {

// A connection of this type, as accept() gives it to whoever calls it in this program.
int accepted(int type) {
  const int listening = socket(AF_UNIX, type, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // The kernel chooses a name.
  EXPECT_EQ(bind(listening, reinterpret_cast<sockaddr*>(&address), sizeof address.sun_family), 0);
  socklen_t size = sizeof address;
  EXPECT_EQ(getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size), 0);
  EXPECT_EQ(listen(listening, 1), 0);
  const int connecting = socket(AF_UNIX, type, 0);
  EXPECT_EQ(connect(connecting, reinterpret_cast<sockaddr*>(&address), size), 0);
  const int connection = accept(listening, nullptr, nullptr);
  close(listening);
  close(connecting);
  return connection;
}

TEST(DriverSockets, NobodyWaitsForWhatDoesNotComeOnAMemifConnection) {
  const int connection = accepted(SOCK_SEQPACKET);
  ASSERT_GE(connection, 0);
  EXPECT_NE(fcntl(connection, F_GETFL) & O_NONBLOCK, 0);
  close(connection);
}

TEST(DriverSockets, OthersAreAsEver) {
  const int connection = accepted(SOCK_STREAM);
  ASSERT_GE(connection, 0);
  EXPECT_EQ(fcntl(connection, F_GETFL) & O_NONBLOCK, 0);
  close(connection);
}

}  // namespace
}  // namespace tributary::dataplane
