// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/carrier/socket.h"

#include <netinet/in.h>
#include <set>
#include <sys/socket.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/transport/address.h"
#include "protocols/flare/wire.h"
#include "wire/spread.h"

namespace tributary::host::test {
namespace {

const wire::Ipv4Address local(127, 0, 0, 1);
const wire::Ipv4Address group(239, 192, 7, 8);

void send(const FileDescriptor& sender, wire::Ipv4Address to, char what) {
  const auto address = to_sockaddr({to, wire::flare_udp_port});
  ASSERT_EQ(::sendto(sender.get(), &what, 1, 0, address.get(), address.bytes), 1);
}

std::uint16_t port_of(const FileDescriptor& fd) {
  SocketName bound;
  EXPECT_EQ(::getsockname(fd.get(), bound.get(), &bound.bytes), 0);
  return from_sockaddr(bound).port;
}

// A sender that can only send packets to this host is no switch of the tree.
TEST(FlareSocket, HearsItsGroupAlone) {
  const auto socket = open_flare_socket(local, group, 0);
  ASSERT_TRUE(socket) << socket.error().message;
  const auto& sender = socket->senders[0];
  const int on = 1;
  ASSERT_EQ(::setsockopt(sender.get(), IPPROTO_IP, IP_MULTICAST_LOOP, &on, sizeof on), 0);
  send(sender, local, 'u');
  send(sender, wire::Ipv4Address(239, 192, 7, 9), 'o');
  send(sender, group, 'g');
  char heard = 0;
  ASSERT_EQ(::recv(socket->fd.get(), &heard, 1, 0), 1);
  EXPECT_EQ(heard, 'g');
}

// The flow of a block spreads the blocks of a job over cores; a card knows it by the source port.
TEST(FlareSocket, EveryFlowHasASourcePortThatCardsTakeForIts) {
  std::set<std::uint16_t> ports;
  std::vector<DatagramSocket> workers;
  for (int worker = 0; worker < 2; ++worker) {
    auto socket = open_flare_socket(local, group, 0);
    ASSERT_TRUE(socket) << socket.error().message;
    workers.push_back(std::move(*socket));
    ASSERT_EQ(workers.back().senders.size(), wire::flow_count);
    for (unsigned flow = 0; flow < wire::flow_count; ++flow) {
      const auto port = port_of(workers.back().senders[flow]);
      EXPECT_EQ(wire::flow_of_port(port), flow);
      EXPECT_TRUE(ports.insert(port).second) << port;
    }
  }
}

TEST(FlareSocket, SendsInItsTrafficClass) {
  constexpr std::uint8_t cs4 = 32 << 2;
  const auto socket = open_flare_socket(local, group, cs4);
  ASSERT_TRUE(socket) << socket.error().message;
  int tos = -1;
  socklen_t size = sizeof tos;
  ASSERT_EQ(::getsockopt(socket->senders[5].get(), IPPROTO_IP, IP_TOS, &tos, &size), 0);
  EXPECT_EQ(tos, cs4);
  int hops = 0;
  size = sizeof hops;
  ASSERT_EQ(::getsockopt(socket->senders[5].get(), IPPROTO_IP, IP_MULTICAST_TTL, &hops, &size), 0);
  EXPECT_EQ(hops, 64);
}

}  // namespace
}  // namespace tributary::host::test
