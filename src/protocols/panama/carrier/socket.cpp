// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/carrier/socket.h"

#include <cstddef>
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
  auto local = link.local;
  local.port = wire::source_port_of(key);
  if (!bind_to(fd, local) && !bind_to(fd, link.local)) {
    return fail(Error::Code::network, errno_text("bind to " + to_string(link.local.ip())));
  }
  return opened;
}

}  // namespace

Result<DatagramSocket> open_panama_socket(const wire::IpAddress& local,
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
  if (!tell_ecn(*opened)) {
    return fail(Error::Code::network, errno_text("options of the UDP socket"));
  }
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
