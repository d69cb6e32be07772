// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/carrier/socket.h"

#include <cerrno>
#include <string>
#include <utility>

#include "host/transport/address.h"
#include "wire/roce.h"

namespace tributary::host {

// Linux writes the identification 0 into packets that must not be fragmented and whose socket is
// not connected.
Result<DatagramSocket> open_roce_socket(const wire::IpAddress& local, std::uint8_t tos) {
  auto socket = open_udp_socket(tos, local.is_v4() ? AF_INET : AF_INET6);
  if (!socket) {
    return tl::make_unexpected(socket.error());
  }
  DatagramSocket opened{.fd = std::move(*socket),
                        .local = Endpoint::at(local, wire::roce_udp_port),
                        .tells_source = true};
  const int fd = opened.fd.get();
  if (!tell_ecn(opened)) {
    return fail(Error::Code::network, errno_text("options of the UDP socket"));
  }
  opened.receive_buffer_bytes = enlarge_buffers(fd);
  if (!bind_to(fd, opened.local)) {
    const bool taken = errno == EADDRINUSE;
    return fail(Error::Code::network,
                errno_text("bind to " + to_string(opened.local)) +
                    (taken ? "; another job's software endpoint or a Soft-RoCE device has this "
                             "address: give this job another one (TRIBUTARY_LOCAL_ADDRESS), or let "
                             "it use the device (TRIBUTARY_RDMA_DEVICE)"
                           : ""));
  }
  return opened;
}

}  // namespace tributary::host
