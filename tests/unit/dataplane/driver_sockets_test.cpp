// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/driver_sockets.h"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace tributary::dataplane {
namespace {

// Returns a connection of this type, as accept() gives it to a caller in this program.
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

// Sends some bytes to a peer that is gone, as drivers do in this program. Returns an error as a
// negative number.
ssize_t sent_to_nobody(int type) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(socketpair(AF_UNIX, type, 0, ends), 0);
  close(ends[1]);
  char text[] = "hello";
  iovec parts[] = {{text, 2}, {text + 2, 3}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  const ssize_t sent = sendmsg(ends[0], &message, MSG_NOSIGNAL);
  const ssize_t result = sent < 0 ? -errno : sent;
  close(ends[0]);
  return result;
}

TEST(DriverSockets, AMemifPeerThatIsGoneIsNotNoticedBySending) {
  EXPECT_EQ(sent_to_nobody(SOCK_SEQPACKET), 5);
}

TEST(DriverSockets, SendingToOthersThatAreGoneFailsAsEver) {
  EXPECT_EQ(sent_to_nobody(SOCK_STREAM), -EPIPE);
}

// A server like that of DPDK's memif.
struct Server {
  explicit Server(const std::string& file) : path(testing::TempDir() + file) {
    unlink(path.c_str());
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener, 4), 0);
  }
  ~Server() {
    close(listener);
    unlink(path.c_str());
  }
  // Connects, and sends some bytes.
  int client() const {
    const int connecting = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    EXPECT_EQ(connect(connecting, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(send(connecting, "init", 4, 0), 4);
    return connecting;
  }

  std::string path;
  sockaddr_un address{};
  int listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
};

bool is_readable(int socket) {
  pollfd entry{socket, POLLIN, 0};
  return poll(&entry, 1, 0) == 1;
}

TEST(DriverSockets, NothingIsLeftToServeWhereTheServerWasClosed) {
  const Server closed("closed.sock");
  const Server other("other.sock");
  const int accepted_client = closed.client();
  const int accepted = accept(closed.listener, nullptr, nullptr);
  const int waiting = closed.client();
  const int elsewhere = other.client();
  end_connections_at(closed.path);
  char byte = 0;
  EXPECT_FALSE(is_readable(closed.listener));
  EXPECT_EQ(recv(accepted, &byte, 1, MSG_DONTWAIT), 0);
  EXPECT_EQ(recv(accepted_client, &byte, 1, MSG_DONTWAIT), 0);
  EXPECT_TRUE(is_readable(waiting));
  EXPECT_LE(recv(waiting, &byte, 1, MSG_DONTWAIT), 0);
  EXPECT_TRUE(is_readable(other.listener));
  EXPECT_FALSE(is_readable(elsewhere));
  for (const int socket : {accepted_client, accepted, waiting, elsewhere}) {
    close(socket);
  }
}

}  // namespace
}  // namespace tributary::dataplane
