// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/error.h"
#include "host/transport/address.h"
#include "host/transport/datagram_socket.h"
#include "system/file_descriptor.h"
#include "wire/ip_address.h"
#include "wire/ipv4.h"

namespace tributary::host {

// Returns the multicast address that a text is. If it is none, the error says of what it was to be
// one.
Result<wire::Ipv4Address> parse_group(const std::string& text, const std::string& of);

// A local address, and the interface that has it, by which groups are heard and reached. Where the
// address is one of IPv6, so are the groups: those that embed the ones of IPv4.
struct GroupLink {
  Endpoint local;  // without a port
  Interface interface;

  int family() const { return local.prefix ? AF_INET6 : AF_INET; }
};
Result<GroupLink> group_link_of(const wire::IpAddress& local);

// Opens a UDP socket that is a member of multicast groups, at a port that jobs on one host share.
// It hears these groups alone: no others, and nothing that is for this host. The caller opens the
// sockets that send for it.
Result<DatagramSocket> open_group_socket(const GroupLink& link, std::uint16_t port,
                                         const std::vector<wire::Ipv4Address>& groups);

// Opens a socket that only sends, to groups; it is not bound yet.
Result<FileDescriptor> open_group_sender(const GroupLink& link, int tos);

}  // namespace tributary::host
