// SPDX-License-Identifier: BSD-3-Clause
#include "host/transport/tcp.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <sys/socket.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;

// A socket is in this state when an ICMP error ends it at the moment of the check: poll() says that
// it is ready, SO_ERROR that nothing is wrong, and yet there is no connection. Here the connection
// is still being made, to a socket that accepts no more.
TEST(Tcp, takes_no_socket_without_a_peer_for_connected) {
  const auto listener = *listen_on({wire::Ipv4Address(127, 0, 0, 1), 0});
  ASSERT_EQ(::listen(listener.fd.get(), 0), 0);
  std::vector<FileDescriptor> filling;
  while (auto one = connect_until(listener.local, {}, Clock::now() + 200ms)) {
    filling.push_back(std::move(*one));
    ASSERT_LT(filling.size(), 16u);
  }
  int waits = 0;
  const Wait wait = [&](int fd, short events, Time until) -> Result<bool> {
    if (waits++ == 0) {
      return true;
    }
    filling.push_back(accept_now(listener));
    return wait_alone(fd, events, until);
  };
  const auto made = connect_until(listener.local, {}, Clock::now() + 20s, wait);
  ASSERT_TRUE(made) << made.error().message;
  const std::array<std::byte, 20> greeting{};
  const auto sent = send_all(made->get(), greeting, Clock::now());
  EXPECT_TRUE(sent) << sent.error().message;
  EXPECT_GT(waits, 1);
}

TEST(Tcp, gives_up_where_nobody_listens_if_that_is_said) {
  auto listener = *listen_on({wire::Ipv4Address(127, 0, 0, 1), 0});
  listener.fd = {};
  const auto made =
      connect_until(listener.local, {}, Clock::now() + 10s, wait_alone, WhenRefused::give_up);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Error::Code::network);
}

}  // namespace
}  // namespace tributary::host::test
