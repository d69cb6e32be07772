// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/carrier/socket.h"

#include <cerrno>
#include <string>
#include <sys/socket.h>
#include <utility>
#include <vector>

#include "host/transport/address.h"
#include "protocols/canary/wire.h"
#include "wire/spread.h"

namespace tributary::host {
namespace {

// What only sends. Nobody reads what strangers send there.
Result<FileDescriptor> open_sender() {
  auto fd = open_udp_socket(wire::ecn::ect0);
  if (fd) {
    enlarge_send_buffer(fd->get());
    set_option(fd->get(), SOL_SOCKET, SO_RCVBUF, 0);
  }
  return fd;
}

// One for each flow, with a source port of the flow's, as far as they are free: every worker on a
// host has its own. They lie beyond those from which Linux takes what nobody asked for.
Result<std::vector<FileDescriptor>> open_senders(wire::Ipv4Address local) {
  constexpr unsigned port_first = 0xf000;
  constexpr unsigned port_last = 0xffff;
  std::vector<FileDescriptor> senders(wire::flow_count);
  auto spare = open_sender();
  std::size_t missing = senders.size();
  const auto bind_spare_to = [&](FileDescriptor& sender, std::uint16_t port) {
    if (!spare || sender || !bind_to(spare->get(), {local, port})) {
      return;
    }
    sender = std::move(*spare);
    if (--missing != 0) {
      spare = open_sender();
    }
  };
  for (auto port = port_first; port <= port_last && missing != 0; ++port) {
    const auto bound = static_cast<std::uint16_t>(port);
    bind_spare_to(senders[wire::flow_of_port(bound)], bound);
  }
  for (auto& sender : senders) {
    bind_spare_to(sender, 0);
  }
  if (!spare) {
    return tl::make_unexpected(spare.error());
  }
  return senders;
}

}  // namespace

Result<DatagramSocket> open_canary_socket(wire::Ipv4Address local) {
  auto socket = open_udp_socket(wire::ecn::ect0);
  if (!socket) {
    return tl::make_unexpected(socket.error());
  }
  DatagramSocket opened{.fd = std::move(*socket)};
  const int fd = opened.fd.get();
  opened.receive_buffer_bytes = enlarge_buffers(fd);
  for (unsigned port = wire::canary_udp_port_first; port <= wire::canary_udp_port_last; ++port) {
    opened.local = Endpoint{local, static_cast<std::uint16_t>(port)};
    if (bind_to(fd, opened.local)) {
      return open_senders(local).map([&](std::vector<FileDescriptor> senders) {
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
