// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/carrier/socket.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <gtest/gtest.h>

#include "host/transport/address.h"
#include "protocols/panama/wire.h"

namespace tributary::host::test {
namespace {

// Where ranks may be missing, a result that lacks some is accepted. A sender that can only send
// packets to this host must not be able to forge one.
TEST(PanamaSocket, HearsItsGroupsAlone) {
  const wire::Ipv4Address local(127, 0, 0, 1);
  const wire::Ipv4Address group(239, 192, 7, 7);
  const auto socket = open_panama_socket(local, {group}, 1);
  ASSERT_TRUE(socket) << socket.error().message;
  const auto send = [&](wire::Ipv4Address to, char what) {
    const auto address = to_sockaddr({to, wire::panama_udp_port});
    return ::sendto(socket->senders[0].get(), &what, 1, 0, address.get(), address.bytes);
  };
  const int on = 1;
  ASSERT_EQ(::setsockopt(socket->senders[0].get(), IPPROTO_IP, IP_MULTICAST_LOOP, &on, sizeof on),
            0);
  ASSERT_EQ(send(local, 'u'), 1);
  ASSERT_EQ(send(group, 'g'), 1);
  char heard = 0;
  ASSERT_EQ(::recv(socket->fd.get(), &heard, 1, 0), 1);
  EXPECT_EQ(heard, 'g');
}

}  // namespace
}  // namespace tributary::host::test
