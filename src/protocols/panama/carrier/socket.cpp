// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/carrier/socket.h"

#include <cstddef>
#include <netinet/in.h>
#include <string>
#include <utility>

#include "host/transport/address.h"
#include "host/transport/group_socket.h"
#include "protocols/panama/wire.h"
#include "wire/key.h"

namespace tributary::host {
namespace {

// Opens the socket that sends to one tree.
Result<FileDescriptor> open_tree_sender(const GroupLink& link, std::uint64_t key) {
  auto opened = open_group_sender(link, wire::panama_dscp << 2 | wire::ecn::ect0);
  if (!opened) {
    return opened;
  }
  const int fd = opened->get();
  if (!bind_to(fd, {link.local, wire::source_port_of(key)}) && !bind_to(fd, {link.local, 0})) {
    return fail(Error::Code::network, errno_text("bind to " + to_string(link.local)));
  }
  return opened;
}

}  // namespace

Result<DatagramSocket> open_panama_socket(wire::Ipv4Address local,
                                          const std::vector<wire::Ipv4Address>& groups,
                                          std::uint32_t job) {
  const auto link = group_link_of(local);
  if (!link) {
    return tl::make_unexpected(link.error());
  }
  auto opened = open_group_socket(*link, wire::panama_udp_port, groups);
  if (!opened) {
    return opened;
  }
  if (!set_option(opened->fd.get(), IPPROTO_IP, IP_RECVTOS, 1)) {
    return fail(Error::Code::network, errno_text("options of the UDP socket"));
  }
  opened->tells_ecn = true;
  for (std::size_t tree = 0; tree < groups.size(); ++tree) {
    auto sender = open_tree_sender(*link, wire::panama_key(job, static_cast<std::uint16_t>(tree)));
    if (!sender) {
      return tl::make_unexpected(sender.error());
    }
    opened->senders.push_back(std::move(*sender));
  }
  return opened;
}

}  // namespace tributary::host
