// SPDX-License-Identifier: BSD-3-Clause
#include "host/transport/datagram_socket.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

int option_of(const FileDescriptor& fd, int level, int option) {
  int value = -1;
  socklen_t bytes = sizeof value;
  EXPECT_EQ(::getsockopt(fd.get(), level, option, &value, &bytes), 0);
  return value;
}

// The kernel remembers what ICMP has told about a path, whoever sent it.
TEST(DatagramSocket, asks_only_the_interface_how_large_packets_may_be) {
  for (const auto& open : {open_udp_socket, open_sender}) {
    const auto ipv4 = open(0, AF_INET);
    const auto ipv6 = open(0, AF_INET6);
    ASSERT_TRUE(ipv4 && ipv6);
    EXPECT_EQ(option_of(*ipv4, IPPROTO_IP, IP_MTU_DISCOVER), IP_PMTUDISC_PROBE);
    EXPECT_EQ(option_of(*ipv6, IPPROTO_IPV6, IPV6_MTU_DISCOVER), IPV6_PMTUDISC_PROBE);
  }
}

}  // namespace
}  // namespace tributary::host::test
