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

Result<DatagramSocket> open_canary_socket(const wire::IpAddress& local, std::uint8_t tos) {
  const int family = local.is_v4() ? AF_INET : AF_INET6;
  auto socket = open_udp_socket(tos, family);
  if (!socket) {
    return tl::make_unexpected(socket.error());
  }
  DatagramSocket opened{.fd = std::move(*socket), .local = Endpoint::at(local, 0)};
  const int fd = opened.fd.get();
  opened.receive_buffer_bytes = enlarge_buffers(fd);
  if (!tell_ecn(opened)) {
    return fail(Error::Code::network, errno_text("options of the UDP socket"));
  }
  for (unsigned port = wire::canary_udp_port_first; port <= wire::canary_udp_port_last; ++port) {
    opened.local = Endpoint::at(local, static_cast<std::uint16_t>(port));
    if (bind_to(fd, opened.local)) {
      return open_flow_senders(local, [=] { return open_sender(tos, family); })
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
