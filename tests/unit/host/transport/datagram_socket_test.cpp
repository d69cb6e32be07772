// SPDX-License-Identifier: BSD-3-Clause
#include "host/transport/datagram_socket.h"

#include <chrono>
#include <cstddef>
#include <netinet/in.h>
#include <sys/socket.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/transport/uring_transport.h"

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

TEST(DatagramSocket, a_packet_that_is_too_large_for_its_interface_is_an_error_that_names_both) {
  auto fd = open_udp_socket(0);
  ASSERT_TRUE(fd);
  const wire::Ipv4Address loopback(127, 0, 0, 1);
  auto transport =
      UringTransport::create({.fd = std::move(*fd), .local = Endpoint{loopback, 0}}, 1500);
  ASSERT_TRUE(transport) << transport.error().message;
  const std::vector<std::byte> payload(0x10000);
  Outbox outbox(1);
  outbox.push({loopback, 9}, {}, payload, {});
  const auto until = Clock::now() + std::chrono::seconds(10);
  auto sent = transport->exchange(outbox, until).map([](const auto&) {});
  if (sent) {
    sent = transport->flush(until);
  }
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().message.find("a packet of 65564 bytes is larger than the MTU of the "
                                      "interface lo, 65536: "),
            0u)
      << sent.error().message;
}

}  // namespace
}  // namespace tributary::host::test
