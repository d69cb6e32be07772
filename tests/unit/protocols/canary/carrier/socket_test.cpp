// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/carrier/socket.h"

#include <netinet/in.h>
#include <set>
#include <sys/socket.h>

#include <gtest/gtest.h>

#include "host/transport/address.h"
#include "host/transport/uring_transport.h"
#include "protocols/canary/host/packets.h"
#include "wire/spread.h"

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;

const wire::Ipv4Address local(127, 0, 0, 1);

DatagramSocket open_socket() {
  auto socket = open_canary_socket(local, wire::ecn::ect0);
  EXPECT_TRUE(socket) << socket.error().message;
  return std::move(*socket);
}

std::uint16_t port_of(const FileDescriptor& fd) {
  SocketName bound;
  EXPECT_EQ(::getsockname(fd.get(), bound.get(), &bound.bytes), 0);
  return from_sockaddr(bound).port;
}

TEST(CanarySocket, EveryFlowHasASourcePortThatCardsTakeForIts) {
  const auto socket = open_socket();
  ASSERT_EQ(socket.senders.size(), wire::flow_count);
  for (unsigned flow = 0; flow < wire::flow_count; ++flow) {
    EXPECT_EQ(wire::flow_of_port(port_of(socket.senders[flow])), flow);
  }
}

TEST(CanarySocket, WorkersOfOneHostHavePortsOfTheirOwn) {
  std::set<std::uint16_t> ports;
  std::vector<DatagramSocket> sockets;
  for (int worker = 0; worker < 3; ++worker) {
    sockets.push_back(open_socket());
    for (unsigned flow = 0; flow < wire::flow_count; ++flow) {
      const auto port = port_of(sockets.back().senders[flow]);
      EXPECT_TRUE(ports.insert(port).second) << port;
      EXPECT_EQ(wire::flow_of_port(port), flow);
    }
  }
}

// A worker sends packets of several blocks to one that does not answer.
TEST(CanarySocket, PacketsLeaveWithThePortOfTheirBlock) {
  const auto receiver = open_socket();
  auto transport = UringTransport::create(open_socket(), 2048);
  ASSERT_TRUE(transport) << transport.error().message;
  Outbox outbox(32);
  for (std::uint32_t block = 0; block < 32; ++block) {
    CanaryPacket packet{receiver.local, {}, {}};
    packet.header.job = 0x1234;
    packet.header.id = block;
    packet.send(outbox);
  }
  ASSERT_TRUE(transport->exchange(outbox, Clock::now()));
  ASSERT_TRUE(transport->flush(Clock::now() + 5s));
  std::set<std::uint16_t> ports;
  for (int packet = 0; packet < 32; ++packet) {
    wire::CanaryHeader header;
    SocketName source;
    ASSERT_EQ(::recvfrom(receiver.fd.get(), &header, sizeof header, 0, source.get(), &source.bytes),
              static_cast<ssize_t>(sizeof header));
    const auto port = from_sockaddr(source).port;
    EXPECT_EQ(wire::flow_of_port(port), wire::flow_of(header.key())) << header.id.value();
    ports.insert(port);
  }
  EXPECT_GT(ports.size(), 16u);
}

TEST(CanarySocket, TellsWhatQueuesHaveMarked) {
  auto socket = open_socket();
  const auto receiver = socket.local;
  auto transport = UringTransport::create(std::move(socket), 2048);
  ASSERT_TRUE(transport) << transport.error().message;
  for (const std::uint8_t ecn : {wire::ecn::ce, wire::ecn::ect0}) {
    const auto sender = open_sender(ecn);
    ASSERT_TRUE(sender);
    const auto to = to_sockaddr(receiver);
    ASSERT_EQ(::sendto(sender->get(), "x", 1, 0, to.get(), to.bytes), 1);
    Outbox nothing(1);
    const auto arrivals = transport->exchange(nothing, Clock::now() + 5s);
    ASSERT_TRUE(arrivals);
    ASSERT_EQ(arrivals->size(), 1u);
    EXPECT_EQ(arrivals->front().ecn, ecn);
  }
}

}  // namespace
}  // namespace tributary::host::test
