// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/carrier/socket.h"

#include <cerrno>
#include <netinet/in.h>
#include <string>
#include <utility>
#include <vector>

#include "host/transport/address.h"
#include "host/transport/flow_senders.h"
#include "protocols/canary/wire.h"

namespace tributary::host {

Result<DatagramSocket> open_canary_socket(wire::Ipv4Address local, std::uint8_t tos) {
  auto socket = open_udp_socket(tos);
  if (!socket) {
    return tl::make_unexpected(socket.error());
  }
  DatagramSocket opened{.fd = std::move(*socket)};
  const int fd = opened.fd.get();
  opened.receive_buffer_bytes = enlarge_buffers(fd);
  if (!set_option(fd, IPPROTO_IP, IP_RECVTOS, 1)) {
    return fail(Error::Code::network, errno_text("options of the UDP socket"));
  }
  opened.tells_ecn = true;
  for (unsigned port = wire::canary_udp_port_first; port <= wire::canary_udp_port_last; ++port) {
    opened.local = Endpoint{local, static_cast<std::uint16_t>(port)};
    if (bind_to(fd, opened.local)) {
      return open_flow_senders(local, [tos] { return open_sender(tos); })
          .map([&](std::vector<FileDescriptor> senders) {
            opened.senders = std::move(senders);
            return std::move(opened);
          });
    }
    if (errno != EADDRINUSE) {
      return fail(Error::Code::network, errno_text("bind to " + to_string(opened.local)));
    }
  }
  return fail(Error::Code::network,
              "all Canary ports (17000 to 17255) of " + to_string(local) + " are in use");
}

}  // namespace tributary::host
