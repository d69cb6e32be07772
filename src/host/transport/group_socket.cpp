// SPDX-License-Identifier: BSD-3-Clause
#include "host/transport/group_socket.h"

#include <cstddef>
#include <iterator>
#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <utility>

#include "host/text.h"

namespace tributary::host {
namespace {

// Packets to this host alone are not heard: switches drop what strangers send to a tree's group,
// but forward what is for a worker.
bool hear_groups_only(int fd) {
  constexpr auto destination =
      static_cast<__u32>(SKF_NET_OFF) + offsetof(wire::Ipv4Header, destination);
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, destination),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf0000000),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xe0000000, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
      BPF_STMT(BPF_RET | BPF_K, 0),
  };
  const sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
  return ::setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) == 0;
}

ip_mreqn membership_of(wire::Ipv4Address group, const GroupLink& link) {
  ip_mreqn membership{};
  membership.imr_multiaddr.s_addr = htonl(group.value());
  membership.imr_address.s_addr = htonl(link.local.value());
  membership.imr_ifindex = link.interface.index;
  return membership;
}

}  // namespace

Result<wire::Ipv4Address> parse_group(const std::string& text, const std::string& of) {
  const auto group = parse_address(text);
  if (!group || !group->is_multicast()) {
    return invalid("'" + text + "' is not the multicast address of " + of);
  }
  return group;
}

Result<GroupLink> group_link_of(wire::Ipv4Address local) {
  return interface_of(local).map([&](Interface interface) {
    return GroupLink{local, std::move(interface)};
  });
}

// The socket is bound to no address, so that it hears all its groups, and no others: those of other
// jobs have sockets of their own.
Result<DatagramSocket> open_group_socket(const GroupLink& link, std::uint16_t port,
                                         const std::vector<wire::Ipv4Address>& groups) {
  auto socket = open_udp_socket(0);
  if (!socket) {
    return tl::make_unexpected(socket.error());
  }
  DatagramSocket opened{.fd = std::move(*socket), .local = {link.local, port}};
  const int fd = opened.fd.get();
  if (!set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1) ||
      !set_option(fd, IPPROTO_IP, IP_MULTICAST_ALL, 0) || !hear_groups_only(fd)) {
    return fail(Error::Code::network, errno_text("options of the UDP socket"));
  }
  opened.receive_buffer_bytes = enlarge_buffers(fd);
  if (!bind_to(fd, {wire::Ipv4Address{}, port})) {
    return fail(Error::Code::network, errno_text("bind to port " + std::to_string(port)));
  }
  for (const auto group : groups) {
    const auto membership = membership_of(group, link);
    if (::setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &membership, sizeof membership) != 0) {
      return fail(Error::Code::network,
                  errno_text("joining " + to_string(group) + " on " + link.interface.name));
    }
  }
  return opened;
}

Result<FileDescriptor> open_group_sender(const GroupLink& link, int tos) {
  constexpr int hops_max = 64;
  auto opened = open_sender(tos);
  if (!opened) {
    return opened;
  }
  const int fd = opened->get();
  const auto way_out = membership_of({}, link);
  if (!set_option(fd, IPPROTO_IP, IP_MULTICAST_TTL, hops_max) ||
      !set_option(fd, IPPROTO_IP, IP_MULTICAST_LOOP, 0) ||
      ::setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &way_out, sizeof way_out) != 0) {
    return fail(Error::Code::network, errno_text("UDP socket for multicast"));
  }
  return opened;
}

}  // namespace tributary::host
